/* Where a connection leads. Private to subject/dbms/. */
#ifndef TARE_SUBJECT_DBMS_PEER_H
#define TARE_SUBJECT_DBMS_PEER_H

#include <netinet/in.h>
#include <stdbool.h>

/* Whether the socket's other end is on this machine; a network's address is written down, too. A
 * tunnel looks as if it were. */
bool peer_is_here(int fd, char address[INET6_ADDRSTRLEN]);

#endif

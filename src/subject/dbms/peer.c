#include "subject/dbms/peer.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

/* A machine that talks to itself does so from the address that it talks to. */
bool peer_is_here(int fd, char address[INET6_ADDRSTRLEN])
{
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
		struct sockaddr_storage room;
	} here = { 0 }, there = { 0 };
	socklen_t here_size = sizeof here, there_size = sizeof there;
	if (getsockname(fd, &here.any, &here_size) || getpeername(fd, &there.any, &there_size))
		return false;
	if (there.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &there.four.sin_addr, address, INET6_ADDRSTRLEN);
		return memcmp(&here.four.sin_addr, &there.four.sin_addr,
			      sizeof there.four.sin_addr) == 0;
	}
	if (there.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &there.six.sin6_addr, address, INET6_ADDRSTRLEN);
		return memcmp(&here.six.sin6_addr, &there.six.sin6_addr,
			      sizeof there.six.sin6_addr) == 0;
	}
	return there.any.sa_family == AF_UNIX;
}

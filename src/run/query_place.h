/* Where queries are executed: the database of an experiment, and its server where tare runs it. */
#ifndef TARE_RUN_QUERY_PLACE_H
#define TARE_RUN_QUERY_PLACE_H

#include "measure/query.h"

struct query_place {
	char *url;
	char *recalled;	 /* of the run that is resumed */
	char *directory; /* of the file that is tare's own */
	bool own_file;	 /* a SQLite file that nobody asked for: removed when the run is complete */
};

/* Starts the server that the experiment describes, if any, and connects: fills in rig->dbms and
 * rig->server. url NULL: the experiment's, its server's, or a file of tare's own. */
int query_place_open(struct query_place *p, const struct experiment *e, const char *url,
		     const char *driver_file, struct query_rig *rig, struct error *err);
/* for_good: nobody will resume what was done there. */
void query_place_close(struct query_place *p, struct query_rig *rig, bool for_good);

/* The URL without a password; the caller frees. */
char *query_url_shown(const char *url);
/* The text of an experiment's file without the password in its URL (NULL: it has none); the caller
 * frees. */
int query_text_shown(const char *text, const char *url, char **shown, struct error *err);

#endif

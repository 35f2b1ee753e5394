/* Where queries are executed: the database of an experiment, and its server if tare runs it. */
#ifndef TARE_RUN_QUERY_PLACE_H
#define TARE_RUN_QUERY_PLACE_H

#include "measure/query.h"

struct query_place {
	char *url;
	char *recalled;	 /* the URL of the run that is resumed */
	char *directory; /* of tare's own file */
	int guarded;	 /* that directory, for guard_release() */
	bool own_file;	 /* tare made the SQLite file itself; removed when the run is complete */
};

/* Starts the server that the experiment describes, if any, and connects. Fills in rig->dbms and
 * rig->server. url NULL: the URL of the experiment or its server, or else a file of tare's own. */
int query_place_open(struct query_place *p, const struct experiment *e, const char *url,
		     const char *driver_file, enum query_transaction transaction,
		     struct query_rig *rig, struct error *err);
/* for_good: nobody will resume the run. */
void query_place_close(struct query_place *p, struct query_rig *rig, bool for_good);

/* The URL without its password. The caller frees it. */
char *query_url_shown(const char *url);
/* The text of an experiment without the password in its URL (NULL: none). The caller frees it. */
int query_text_shown(const char *text, const char *url, char **shown, struct error *err);

#endif

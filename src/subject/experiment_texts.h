/* The built-in experiments as files, made from docs/experiments/ by embed.sh. Private to the
 * experiment's files. */
#ifndef TARE_SUBJECT_EXPERIMENT_TEXTS_H
#define TARE_SUBJECT_EXPERIMENT_TEXTS_H

/* In the order of experiment_names. */
extern const char *const experiment_texts[];

#endif

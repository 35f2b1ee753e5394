/* PT(steady): PT at the reference speed of the machine's CPUs. ln PT is fitted to the logarithms of
 * the probes' means, as a control variate: how much a slower CPU slows a program depends on what
 * the program is bound by, so the coefficients are the run's own, or common to the runs of a
 * comparison. Pure. */
#ifndef TARE_PROTOCOL_EMP_STEADY_H
#define TARE_PROTOCOL_EMP_STEADY_H

#include "record/speed.h"

/* One execution. */
struct steady_input {
	double pt_ns;
	double speed_ns[SPEED_KINDS];
};

struct steady_fit {
	size_t n;    /* executions that it is from */
	bool helps;  /* it predicts an execution that it has not seen better than the mean does */
	bool better; /* so much better, and from so many, that PT(steady) is the figure to trust */
	/* By how many per cent PT is longer if the work of this kind takes 1 % longer; 0: unused.
	 */
	double coefficient[SPEED_KINDS];
	double reference_ns[SPEED_KINDS]; /* the speed that PT(steady) is at */
	double sigma, sigma_left; /* of ln PT: as it is, and of what the others do not predict */
	double explained;	  /* the share of sigma that is gone: 1 - sigma_left / sigma */
	/* ln of mean PT / mean PT(steady), and its standard error, the choice of kinds included */
	double shift, shift_error;
	double freedom;	      /* degrees of freedom behind that error */
	double varied;	      /* range of the mean speed, as a share: what people call 6 % */
	enum speed_kind most; /* the kind that explains most; SPEED_KINDS: none */
};

/* reference_ns: NULL, or NaN for a kind: the best of the run. */
void steady_fit(const struct steady_input *in, size_t n, const double *reference_ns,
		struct steady_fit *out);

/* The executions of one run. */
struct steady_group {
	const struct steady_input *in;
	size_t n;
	bool other; /* belongs to the other side of a comparison */
};

/* One set of coefficients for the runs of two sides, whose means may differ: two versions of a
 * program are slowed down alike. The reference is the mean speed of the one side and `shift` goes
 * from there to the other's, which is a far shorter way than to the best speed of the machine. */
void steady_fit_sides(const struct steady_group *groups, size_t count, struct steady_fit *out);

/* PT at the reference speed; NaN if a kind that is needed was not seen. */
double steady_value(const struct steady_fit *f, const struct steady_input *in);

/* Half of the 95 % interval of PT(steady)'s mean, or of a comparison at equal speed, that comes
 * from the coefficients, from the choice of kinds and from how far the shift goes: a share of the
 * mean. */
double steady_reach(const struct steady_fit *f);

/* Speed of one kind as a share of the reference: 0.61 is 61 % of the best. */
double steady_speed(const struct steady_fit *f, const struct steady_input *in, enum speed_kind k);

#endif

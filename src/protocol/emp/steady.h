/* PT(steady): PT at the reference speed of the machine's CPUs. ln PT is fitted to the logarithms of
 * the probes' means, as a control variate: how much a slower CPU slows a program depends on what
 * the program is bound by, so the coefficients are the run's own. Pure. */
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
	double covariance[SPEED_KINDS][SPEED_KINDS];
	double reference_ns[SPEED_KINDS]; /* the speed that PT(steady) is at */
	double sigma, sigma_left;  /* of ln PT: as it is, and of what the others do not predict */
	double explained;	   /* the share of sigma that is gone: 1 - sigma_left / sigma */
	double shift, shift_error; /* ln of mean PT / mean PT(steady), and its standard error */
	double varied;		   /* range of the mean speed, as a share: what people call 6 % */
	enum speed_kind most;	   /* the kind that explains most; SPEED_KINDS: none */
};

/* reference_ns: NULL, or NaN for a kind: the best of the run. */
void steady_fit(const struct steady_input *in, size_t n, const double *reference_ns,
		struct steady_fit *out);

/* PT at the reference speed; NaN if a kind that is needed was not seen. */
double steady_value(const struct steady_fit *f, const struct steady_input *in);

/* Half of the 95 % interval of PT(steady)'s mean that comes from the coefficients and from going as
 * far as the reference: a share of the mean. */
double steady_reach(const struct steady_fit *f);

/* Speed of one kind as a share of the reference: 0.61 is 61 % of the best. */
double steady_speed(const struct steady_fit *f, const struct steady_input *in, enum speed_kind k);

#endif

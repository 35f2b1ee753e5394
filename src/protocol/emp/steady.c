#include "protocol/emp/steady.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

#define FEWEST 6	 /* executions for one coefficient; three more for each further one */
#define FEWEST_BETTER 10 /* for PT(steady) to be the figure to trust */
#define HELPS 0.95	 /* sigma_left / sigma */
#define BETTER 0.7
/* Chains hardly feel a sibling that costs other code much; a steeper coefficient is no speed. */
#define STEEPEST 4.0
#define PRIOR 1.0     /* how large coefficients are thought to be: the ridge */
#define PER_KIND 1.03 /* how much better it must get for one more coefficient */
/* A candidate's weight is the power -TEMPER n of its leave-one-out error: 1 would be Akaike's, but
 * neighbouring executions repeat each other. Found by simulation (docs/coverage.md). */
#define TEMPER 0.6
#define K SPEED_KINDS

/* Solves the symmetric a x = b of `count` rows; with b the unit vectors it inverts. False: a is
 * singular. */
static bool invert(size_t count, double a[K][K], double out[K][K])
{
	double m[K][2 * K] = { { 0 } };
	for (size_t i = 0; i < count; i++) {
		memcpy(m[i], a[i], count * sizeof m[i][0]);
		m[i][count + i] = 1;
	}
	for (size_t i = 0; i < count; i++) {
		if (!(m[i][i] > 1e-300)) /* positive definite: no need to look for a pivot */
			return false;
		double by = m[i][i];
		for (size_t j = 0; j < 2 * count; j++)
			m[i][j] /= by;
		for (size_t r = 0; r < count; r++) {
			double times = m[r][i];
			for (size_t j = 0; r != i && j < 2 * count; j++)
				m[r][j] -= times * m[i][j];
		}
	}
	for (size_t i = 0; i < count; i++)
		memcpy(out[i], &m[i][count], count * sizeof out[i][0]);
	return true;
}

/* The logarithms, less the means of their group. */
struct centred {
	size_t n, groups;
	double *y, (*x)[K];
	double *room;	  /* how much an execution adds to the mean of its group: 1 / n of it */
	double mean_x[K]; /* of the groups that the shift goes to */
	double alone;	  /* sigma of what the mean of the others in the group does not predict */
	bool seen[K];
	double moments[K][K], with_y[K], yy;
};

/* Centres the executions of a group, which begin at the end of those before. */
static void centre_group(struct centred *c, const struct steady_group *g, double means[K])
{
	double mean_y = 0, n = (double)g->n;
	double *y = c->y + c->n, (*x)[K] = c->x + c->n;
	memset(means, 0, K * sizeof *means);
	for (size_t i = 0; i < g->n; i++) {
		mean_y += (y[i] = log(g->in[i].pt_ns)) / n;
		for (size_t k = 0; k < K; k++)
			if (c->seen[k])
				means[k] += (x[i][k] = log(g->in[i].speed_ns[k])) / n;
	}
	for (size_t i = 0; i < g->n; i++) {
		y[i] -= mean_y;
		c->yy += y[i] * y[i];
		c->alone += pow(y[i] * n / (n - 1), 2);
		c->room[c->n + i] = 1 / n;
		for (size_t k = 0; k < K; k++)
			x[i][k] -= means[k];
		for (size_t k = 0; k < K; k++) {
			c->with_y[k] += x[i][k] * y[i];
			for (size_t l = 0; l < K; l++)
				c->moments[k][l] += x[i][k] * x[i][l];
		}
	}
	c->n += g->n;
	c->groups++;
}

/* Each group has at least two executions. */
static void centre(const struct steady_group *groups, size_t count, struct centred *c,
		   double from[K])
{
	size_t n = 0, sides[2] = { 0 };
	double sums[2][K] = { { 0 } };
	for (size_t g = 0; g < count; g++) {
		n += groups[g].n;
		sides[groups[g].other]++;
	}
	*c = (struct centred){ .y = xcalloc(n, sizeof *c->y),
			       .x = xcalloc(n, sizeof *c->x),
			       .room = xcalloc(n, sizeof *c->room) };
	for (size_t k = 0; k < K; k++) {
		c->seen[k] = true;
		for (size_t g = 0; g < count; g++)
			for (size_t i = 0; i < groups[g].n; i++)
				c->seen[k] &= groups[g].in[i].speed_ns[k] > 0;
	}
	for (size_t g = 0; g < count; g++) {
		double means[K];
		centre_group(c, &groups[g], means);
		for (size_t k = 0; k < K; k++)
			sums[groups[g].other][k] += means[k] / (double)sides[groups[g].other];
	}
	c->alone = sqrt(c->alone / (double)n);
	memcpy(c->mean_x, sums[sides[1] > 0], sizeof c->mean_x);
	memcpy(from, sums[0], sizeof sums[0]);
}

static void centred_release(struct centred *c)
{
	xfree(c->y);
	xfree(c->x);
	xfree(c->room);
}

struct subset {
	size_t count, kind[K];
	double b[K], covariance[K][K];
	double left; /* sigma of the leave-one-out errors */
};

/* Ridge: coefficients are thought to be of the order of PRIOR, which matters for few executions
 * only. False: a coefficient is no speed. */
static bool fit_subset(const struct centred *c, struct subset *s)
{
	double variance = c->yy / (double)c->n / 4, inverse[K][K];
	for (int pass = 0; pass < 3; pass++) {
		double a[K][K], rest = c->yy;
		for (size_t i = 0; i < s->count; i++)
			for (size_t j = 0; j < s->count; j++)
				a[i][j] = c->moments[s->kind[i]][s->kind[j]] +
					  (i == j ? variance / (PRIOR * PRIOR) : 0);
		if (!invert(s->count, a, inverse))
			return false;
		for (size_t i = 0; i < s->count; i++) {
			s->b[i] = 0;
			for (size_t j = 0; j < s->count; j++)
				s->b[i] += inverse[i][j] * c->with_y[s->kind[j]];
		}
		for (size_t i = 0; i < s->count; i++) {
			rest -= 2 * s->b[i] * c->with_y[s->kind[i]];
			for (size_t j = 0; j < s->count; j++)
				rest += s->b[i] * s->b[j] * c->moments[s->kind[i]][s->kind[j]];
		}
		variance = rest > 0 ? rest / (double)(c->n - c->groups - s->count) : 0;
	}
	double sum = 0;
	for (size_t i = 0; i < c->n; i++) {
		double error = c->y[i], weight = c->room[i];
		for (size_t j = 0; j < s->count; j++) {
			error -= s->b[j] * c->x[i][s->kind[j]];
			for (size_t l = 0; l < s->count; l++)
				weight += c->x[i][s->kind[j]] * inverse[j][l] * c->x[i][s->kind[l]];
		}
		error /= 1 - (weight < 0.95 ? weight : 0.95);
		sum += error * error;
	}
	s->left = sqrt(sum / (double)c->n);
	bool sound = true;
	for (size_t i = 0; i < s->count; i++) {
		sound &= s->b[i] > 0 && s->b[i] < STEEPEST;
		for (size_t j = 0; j < s->count; j++)
			s->covariance[i][j] = variance * inverse[i][j];
	}
	return sound;
}

/* All sets of kinds that can be fitted with coefficients above 0. */
struct candidates {
	size_t count;
	struct subset sets[1 << K];
};

/* The one that predicts best; its count is 0 if there is none. */
static struct subset choose(const struct centred *c, struct candidates *all)
{
	double least = INFINITY;
	struct subset best = { 0 };
	all->count = 0;
	for (unsigned mask = 1; mask < 1u << K; mask++) {
		struct subset s = { 0 };
		bool seen = true;
		for (size_t k = 0; k < K; k++)
			if (mask >> k & 1) {
				seen &= c->seen[k];
				s.kind[s.count++] = k;
			}
		if (!seen || c->n < FEWEST + 3 * (s.count - 1) + c->groups - 1 ||
		    !fit_subset(c, &s))
			continue;
		all->sets[all->count++] = s;
		double judged = s.left * pow(PER_KIND, (double)s.count);
		if (judged < least) {
			least = judged;
			best = s;
		}
	}
	return best;
}

/* How much slower than at the reference the run was, by one set of kinds: ln of PT / PT(steady),
 * and its variance if that set is the right one. */
static double shift_of(const struct centred *c, const struct subset *s, const double *reference_ns,
		       double *variance)
{
	double shift = 0, away[K];
	*variance = 0;
	for (size_t i = 0; i < s->count; i++)
		away[i] = c->mean_x[s->kind[i]] - log(reference_ns[s->kind[i]]);
	for (size_t i = 0; i < s->count; i++) {
		shift += s->b[i] * away[i];
		for (size_t j = 0; j < s->count; j++)
			*variance += s->covariance[i][j] * away[i] * away[j];
	}
	return shift;
}

/* The error of the shift with the choice of kinds in it: the mean over all candidates of their
 * variance and of their squared distance from the chosen one (Buckland, Burnham & Augustin 1997,
 * Biometrics 53, 603). */
static double shift_error(const struct centred *c, const struct candidates *all, double shift,
			  const double *reference_ns)
{
	double weights = 0, sum = 0, left = INFINITY, variance;
	for (size_t i = 0; i < all->count; i++)
		left = fmin(left, all->sets[i].left);
	for (size_t i = 0; i < all->count; i++) {
		const struct subset *s = &all->sets[i];
		double off = shift_of(c, s, reference_ns, &variance) - shift;
		double weight = left > 0 ? pow(s->left / left, -TEMPER * (double)c->n)
					 : s->left <= left;
		weights += weight;
		sum += weight * (variance + off * off);
	}
	return sum > 0 ? sqrt(sum / weights) : 0;
}

static double reference_of(const struct steady_input *in, size_t n, const double *given, size_t k)
{
	double best = given ? given[k] : NAN;
	for (size_t i = 0; i < n; i++)
		if (in[i].speed_ns[k] > 0 && !(best <= in[i].speed_ns[k]))
			best = in[i].speed_ns[k];
	return best;
}

/* How much the speed varied, by the kind that varied most, without the loads, which depend on what
 * the subject does to the caches itself: half of the range from the 5 % to the 95 % quantile would
 * be robust, but sigma is what is compared with. */
static double variation(const struct centred *c)
{
	double most = 0;
	for (size_t k = 0; k < K; k++)
		if (c->seen[k] && k != SPEED_LOADS && c->n > 1) {
			double sigma = sqrt(c->moments[k][k] / (double)(c->n - c->groups));
			most = sigma > most ? sigma : most;
		}
	return most;
}

/* With the reference already in out. */
static void fit(struct centred *c, struct steady_fit *out)
{
	struct candidates all;
	struct subset best = choose(c, &all);
	out->n = c->n;
	out->sigma = out->sigma_left = sqrt(c->yy / (double)(c->n - c->groups));
	out->varied = variation(c);
	if (!best.count || !(best.left < HELPS * c->alone))
		return;
	double most = 0, unused;
	out->helps = true;
	out->better = c->n >= FEWEST_BETTER && best.left < BETTER * c->alone;
	out->sigma_left = out->sigma * best.left / c->alone;
	out->explained = 1 - best.left / c->alone;
	out->shift = shift_of(c, &best, out->reference_ns, &unused);
	out->shift_error = shift_error(c, &all, out->shift, out->reference_ns);
	out->freedom = (double)(c->n - c->groups - best.count);
	for (size_t i = 0; i < best.count; i++) {
		size_t k = best.kind[i];
		double matters = best.b[i] * sqrt(c->moments[k][k]);
		out->coefficient[k] = best.b[i];
		if (matters > most) {
			most = matters;
			out->most = (enum speed_kind)k;
		}
	}
}

void steady_fit(const struct steady_input *in, size_t n, const double *reference_ns,
		struct steady_fit *out)
{
	const struct steady_group whole = { .in = in, .n = n };
	struct centred c;
	double unused[K];
	*out = (struct steady_fit){ .n = n, .most = SPEED_KINDS };
	for (size_t k = 0; k < K; k++)
		out->reference_ns[k] = reference_of(in, n, reference_ns, k);
	if (n < 2)
		return;
	centre(&whole, 1, &c, unused);
	fit(&c, out);
	centred_release(&c);
}

void steady_fit_sides(const struct steady_group *groups, size_t count, struct steady_fit *out)
{
	struct centred c;
	double from[K];
	*out = (struct steady_fit){ .most = SPEED_KINDS };
	for (size_t g = 0; g < count; g++)
		if (groups[g].n < 2)
			return;
	centre(groups, count, &c, from);
	for (size_t k = 0; k < K; k++)
		out->reference_ns[k] = c.seen[k] ? exp(from[k]) : NAN;
	fit(&c, out);
	centred_release(&c);
}

double steady_value(const struct steady_fit *f, const struct steady_input *in)
{
	double off = 0;
	for (size_t k = 0; k < K; k++)
		if (f->coefficient[k] != 0)
			off += f->coefficient[k] * log(in->speed_ns[k] / f->reference_ns[k]);
	return in->pt_ns * exp(-off);
}

/* Student's t for 95 %, by the first terms of Cornish and Fisher's expansion. */
static double student(double freedom)
{
	const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;
	return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom);
}

double steady_reach(const struct steady_fit *f)
{
	return f->freedom > 0 ? student(f->freedom) * f->shift_error : 0;
}

double steady_speed(const struct steady_fit *f, const struct steady_input *in, enum speed_kind k)
{
	return f->reference_ns[k] / in->speed_ns[k];
}

/** Route `config` for the operator's probes: public, without rate limits, load shedding, CORS and traces. */
export const exempt = { auth: 'public', cors: false, rateLimit: false, traced: false, pressureHandler: () => {} } as const

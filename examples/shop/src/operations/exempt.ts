/** Route `config` of what machines of the operator ask for: public, and neither counted, shed nor traced. */
export const exempt = { auth: 'public', cors: false, rateLimit: false, otel: false, pressureHandler: () => {} } as const

export type Settings = Readonly<ReturnType<typeof settingsFrom>>

/** Reads the environment variables that the README lists. An empty one counts as unset. */
export function settingsFrom (env: NodeJS.ProcessEnv) {
  const { NODE_ENV, DATABASE_URL, IDP_ISSUER, IDP_CLIENT_ID = '', IDP_MACHINE_CLIENT_IDS: machines } = env
  const port = Number(env.PORT || 3000)
  if (NODE_ENV === 'production' && !DATABASE_URL) throw new Error('Set DATABASE_URL, see README.md')
  if (DATABASE_URL && !env.API_KEY_PEPPER) throw new Error('Set API_KEY_PEPPER, see README.md')
  if (IDP_ISSUER && !IDP_CLIENT_ID) throw new Error('Set IDP_CLIENT_ID, see README.md')
  return {
    host: env.HOST || '127.0.0.1',
    port,
    publicBaseUrl: new URL(env.PUBLIC_BASE_URL || `http://localhost:${port}`).origin,
    databaseUrl: DATABASE_URL || undefined,
    dataDir: env.DATA_DIR || '.data',
    // The embedded database is for development, and keys are too long to guess: there, the pepper need not be secret.
    pepper: env.API_KEY_PEPPER || 'not secret, for the embedded database',
    idp: IDP_ISSUER ? { issuer: IDP_ISSUER, clientId: IDP_CLIENT_ID, machines: machines?.split(',') ?? [] } : undefined,
    stripeKey: env.STRIPE_SECRET_KEY || undefined
  }
}

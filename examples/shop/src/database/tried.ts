const TRIES = 3

/**
 * Another transaction and this one waited for each other, or it has taken a slug or SKU meanwhile: trying again says
 * whose.
 */
const MET: readonly unknown[] = ['40P01', '40001', '23505']

/** Whether it failed only because of another transaction at the same time. */
export function metAnother (error: unknown): boolean {
  return MET.includes((error as { code?: string }).code)
}

/** Tries work again that met another transaction. */
export async function tried<Result> (work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1;; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!metAnother(error) || tries === TRIES) throw error
    }
  }
}

/** Whether a migration failed only because of the locks of others. */
export function metLock (error: unknown): boolean {
  return ['55P03', '40P01', '40001'].includes((error as { code?: string }).code ?? '')
}

/** Some of the items were done before one failed. Its message is that of the first failure. */
export class Interrupted extends Error {
  readonly done: readonly unknown[]
  /** The errors of those that were under way together. */
  readonly failures: readonly unknown[]

  constructor (done: readonly unknown[], failures: readonly unknown[]) {
    super((failures[0] as Error).message, { cause: failures[0] })
    this.done = done
    this.failures = failures
  }
}

/**
 * Does the same with each item, a few at a time. After a failure nothing new is started.
 *
 * @throws {@link Interrupted} when those under way have ended
 */
export async function inTurn<Item> (
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, index: number) => Promise<unknown>
): Promise<void> {
  const waiting = items.entries()
  const done: Item[] = []
  const failures: unknown[] = []
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const [index, item] of waiting) {
      if (failures.length > 0) return
      try {
        await work(item, index)
        done.push(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }))
  if (failures.length > 0) throw new Interrupted(done, failures)
}

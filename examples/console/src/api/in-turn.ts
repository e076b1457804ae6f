/** Some of the items were done before one failed. Its message is that of the failure. */
export class Interrupted extends Error {
  readonly done: readonly unknown[]

  constructor (done: readonly unknown[], cause: unknown) {
    super((cause as Error).message, { cause })
    this.done = done
  }
}

/**
 * Does the same with each item, a few at a time. After a failure nothing new is started.
 *
 * @throws {@link Interrupted} with the first failure, when those under way have ended
 */
export async function inTurn<Item> (items: readonly Item[], atOnce: number, work: (item: Item, index: number) => Promise<unknown>): Promise<void> {
  const waiting = items.entries()
  const done: Item[] = []
  let failure: { readonly error: unknown } | undefined
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const [index, item] of waiting) {
      if (failure !== undefined) return
      try {
        await work(item, index)
        done.push(item)
      } catch (error) {
        failure ??= { error }
      }
    }
  }))
  if (failure !== undefined) throw new Interrupted(done, failure.error)
}

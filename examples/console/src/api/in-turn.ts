/**
 * Does the same with each item, a few at a time. After a failure nothing new is started.
 *
 * @throws the first failure, when those under way have ended
 */
export async function inTurn<Item> (items: readonly Item[], atOnce: number, work: (item: Item, index: number) => Promise<unknown>): Promise<void> {
  const waiting = items.entries()
  let failure: { readonly error: unknown } | undefined
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const [index, item] of waiting) {
      if (failure !== undefined) return
      try {
        await work(item, index)
      } catch (error) {
        failure ??= { error }
      }
    }
  }))
  if (failure !== undefined) throw failure.error
}

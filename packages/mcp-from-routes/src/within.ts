/**
 * What a function of the host returned, if it settles in time.
 * @param name - the function, in the error
 * @param limit - in milliseconds
 */
export function within<T> (result: T | PromiseLike<T>, name: string, limit: number): T | Promise<T> {
  if (typeof Object(result).then !== 'function') return result as T
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name} did not settle within ${limit} ms`)), limit).unref()
    Promise.resolve(result).then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

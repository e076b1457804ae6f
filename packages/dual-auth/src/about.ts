/** Names the input that the error is about, for the host's error handler. */
export function about (field: string, error: Error): Error {
  return Object.assign(error, { field })
}

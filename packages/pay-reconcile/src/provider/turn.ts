/**
 * Waits in a line, first come first served: whoever calls the function that it leaves there lets it go on.
 *
 * @param signal - takes it out of the line, and is the reason that the promise rejects with
 */
export function turnIn (line: Array<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = (): void => {
      signal.removeEventListener('abort', leave)
      resolve()
    }
    const leave = (): void => {
      line.splice(line.indexOf(go), 1)
      reject(signal.reason)
    }
    line.push(go)
    signal.addEventListener('abort', leave)
  })
}

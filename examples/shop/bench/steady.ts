// A load that comes in whatever the server does, as that of many callers would: autocannon's own rate sends what is due
// in a second at its start, which is saturation again, for a part of the time.
import { Agent, request as send } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type autocannon from 'autocannon'

const SOCKETS = 64

/**
 * Calls at random times, so many a second on average, for so many seconds.
 * @returns of each call the milliseconds from when it was due to the end of its answer, in rising order
 * @throws RangeError when one is not answered with a 2xx
 */
export async function steadyLatencies (address: string, next: () => autocannon.Request, { rate, seconds }: { readonly rate: number, readonly seconds: number }): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
  const calls: Array<Promise<number>> = []
  const start = performance.now()
  let due = start
  while (due < start + seconds * 1000) {
    // Waiting ends some milliseconds late: a call that was due before it is measured from when it was due.
    if (due > performance.now()) await delay(due - performance.now())
    calls.push(latency(agent, address, next(), due))
    // The gaps between independent callers are distributed exponentially.
    due += -Math.log(1 - Math.random()) * 1000 / rate
  }
  const latencies = await Promise.all(calls)
  agent.destroy()
  return latencies.sort((a, b) => a - b)
}

function latency (agent: Agent, address: string, { method, path = '/', headers, body }: autocannon.Request, due: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = send(new URL(path, address), { agent, method, headers: headers ?? {} }, (response) => {
      if (response.statusCode === undefined || response.statusCode > 299) reject(new RangeError(`answered ${response.statusCode}`))
      response.resume().on('end', () => { resolve(performance.now() - due) }).on('error', reject)
    })
    request.on('error', reject).end(body)
  })
}

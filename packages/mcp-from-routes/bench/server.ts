// One contender in a process of its own: the load comes from another. Prints its address, and its CPU time when asked.
import { start, type Contender } from './contenders.ts'

const [contender = '', count = ''] = process.argv.slice(2)
const { app, address } = await start(contender as Contender, Number(count))
process.on('message', (message) => {
  const cpu = process.cpuUsage()
  // Collected only when asked: a collection while no request is in flight makes V8 forget the code that it has
  // optimized for what requests are made of, and a round after it measures compiling.
  if (message === 'collect') globalThis.gc?.()
  process.send?.({ cpu, memory: process.memoryUsage(), handles: process.getActiveResourcesInfo().length })
})
process.on('disconnect', () => {
  app.close().finally(() => process.exit())
})
process.send?.({ address })

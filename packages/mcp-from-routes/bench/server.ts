// One contender in a process of its own: the load comes from another. Prints its address, and its CPU time when asked.
import { start } from './contenders.ts'
import type { Contender } from './contenders.ts'

const [contender = '', count = ''] = process.argv.slice(2)
const { app, address } = await start(contender as Contender, Number(count))
process.on('message', () => {
  const cpu = process.cpuUsage()
  globalThis.gc?.()
  process.send?.({ cpu, memory: process.memoryUsage(), handles: process.getActiveResourcesInfo().length })
})
process.on('disconnect', () => { app.close().finally(() => process.exit()) })
process.send?.({ address })

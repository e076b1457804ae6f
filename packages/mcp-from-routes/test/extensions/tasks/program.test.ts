import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runProgram } from '../../program.ts'
import { ask } from './jobs.ts'

const page = readFileSync(fileURLToPath(new URL('../../../docs/tasks.md', import.meta.url)), 'utf8')

t.test('the program of the page says what the page says, and its work is done in the end', async (t) => {
  const url = (await runProgram(t, 'tasks')).replace('Reports at ', '')
  const call = { name: 'write_report', arguments: { year: 2025 } }
  const { result } = await ask(url, 'tools/call', call, { tasks: false })
  const [{ text = '?' } = {}] = result?.content as Array<{ text?: string }>
  t.ok(page.includes(`\n> ${text}\n`), text)
  const created = await ask(url, 'tools/call', call)
  t.match(created, { result: { resultType: 'task', status: 'working', pollIntervalMs: 1000 } })
  const { taskId } = created.result as { taskId: string }
  const states: unknown[] = []
  let task: Record<string, unknown> = {}
  while (task.status === undefined || task.status === 'working') {
    if (task.status !== undefined) await sleep(task.pollIntervalMs as number)
    task = (await ask(url, 'tasks/get', { taskId })).result ?? {}
    states.push([task.status, task.statusMessage])
  }
  t.strictSame(states[0], ['working', 'Counting 2025'])
  t.match(task, {
    status: 'completed',
    result: { structuredContent: { status: 'done', text: '2025 was a good year.' } }
  })
  const other = (await ask(url, 'tools/call', call, { era: 'legacy' })).result?.task as { taskId: string }
  t.match(await ask(url, 'tasks/cancel', { taskId: other.taskId }, { era: 'legacy' }), {
    result: { status: 'cancelled' }
  })
})

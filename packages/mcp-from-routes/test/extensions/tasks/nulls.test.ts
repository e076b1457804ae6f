import t from 'tap'
import { ENVELOPE, refusesNulls } from '../../nulls.ts'
import { jobsApp } from './jobs.ts'

const get = { id: 1, params: { taskId: 'a', _meta: {} } }
const modern = { id: 1, params: { taskId: 'a', _meta: ENVELOPE } }
const MESSAGES = {
  legacy: { 'tasks/get': get, 'tasks/result': get, 'tasks/cancel': get },
  modern: { 'tasks/get': modern, 'tasks/cancel': modern, 'tasks/update': modern }
}

for (const [era, messages] of Object.entries(MESSAGES)) {
  t.test(`${era}: null for any member of a message about a task is the error of its kind, in words`, async (t) => {
    await refusesNulls(t, (await jobsApp(t)).url, era, messages)
  })
}

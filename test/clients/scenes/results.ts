import { fixtureTools } from '../fixture.ts'
import { content, data, error, type Stage, type Visit } from '../scene.ts'

/** At the small server: limits, bytes, slowness and a restart. */
export async function results ({ fixture, disconnect }: Stage): Promise<Visit> {
  return {
    name: 'results',
    origin: fixture.origin,
    headers: {},
    tools: fixtureTools,
    instructions: 'Tools to look at.',
    scenes: [
      { title: 'before the limit', tool: 'get_limited', arguments: {}, says: data('{"text":"once"}') },
      {
        title: 'rate limit',
        tool: 'get_limited',
        arguments: {},
        says: error('429 Too Many Requests: Rate limit exceeded, retry in N seconds', 'retry-after: N')
      },
      {
        title: 'record',
        about: 'a record, and its ETag for the next call',
        tool: 'get_note',
        arguments: {},
        says: data('{"text":"Buy milk"}', 'etag: "7"')
      },
      {
        title: 'too large',
        tool: 'get_large',
        arguments: {},
        says: error('The result has 5011 bytes, more than the 2000 that one call may return. Narrow it with limit.')
      },
      { title: 'image', tool: 'get_image', arguments: {}, says: content('<image>') },
      {
        title: 'binary',
        tool: 'get_document',
        arguments: {},
        says: content(
          '{"type":"resource","resource":{"uri":"http://HOST/document","mimeType":"application/pdf",' +
            '"blob":"JVBERi0xLjc="}}'
        )
      },
      { title: 'slow', tool: 'get_slow', arguments: {}, says: content('{"line":1}\n{"line":2}\n{"line":3}\n') },
      { title: 'silence', tool: 'get_silent', arguments: {}, says: data('{"text":"late"}') },
      {
        title: 'long work',
        tool: 'start_job',
        arguments: {},
        says: content(
          'start_job has started the work, which is still running. Call get_job in 2 s with {"id":"seven"} to ' +
            'get its status, and again until it is done. Do not call start_job again for the same work.',
          '{"id":"seven"}',
          'location: /jobs/seven\nretry-after: N'
        )
      },
      { title: 'long work later', tool: 'get_job', arguments: { id: 'seven' }, says: data('{"status":"done"}') },
      {
        title: 'restart',
        before: async () => {
          await fixture.restart()
          disconnect()
        },
        tool: 'get_limited',
        arguments: {},
        says: data('{"text":"once"}')
      }
    ]
  }
}

/** Replaces what differs from run to run: ids, times, cursors, addresses, paths, and the calls in stack traces. */
export function normal (text: string): string {
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/Wall time: [\d.]+/g, 'Wall time: N')
    .replace(/retry in (1 minute|\d+ seconds)/g, 'retry in N seconds')
    .replace(/(retry-after(?:: |":"))\d+/g, '$1N')
    .replace(/("version":")\d+\.\d+\.\d+\+\w+/g, '$1VERSION')
    .replace(/\/\S+\/mcp-shop-blob-[\w-]+/g, 'FILE')
    .replace(/(after=)[\w-]+/g, '$1CURSOR')
    .replace(/"id":\d+/g, '"id":N')
    .replace(/kettle-\d+/g, 'kettle-N').replace(/Kettle \d+/g, 'Kettle N')
    .replace(/http:\/\/(localhost|127\.0\.0\.1):\d+/g, 'http://HOST')
    .replace(/((\\n|\n) {4}at [^\n\\"]+)+/g, ' STACK')
}

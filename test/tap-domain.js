import { createHook, executionAsyncResource } from 'node:async_hooks'

/*
 * Takes the place of `async-hook-domain`, by which tap finds the test that an uncaught error belongs to. That keeps
 * every promise by its number until the garbage collector reports its end, in a sixth of the time of most tests. Here
 * the resources carry their domain themselves.
 */
const DOMAIN = Symbol('the domain of a test')

const hook = createHook({
  init (id, type, triggerId, resource) {
    const domain = current()
    if (domain !== undefined) resource[DOMAIN] = domain
  }
})
const { emit } = process
let open = 0

/** The innermost domain that is open where this is called. */
function current () {
  let domain = executionAsyncResource()[DOMAIN]
  while (domain?.destroyed) domain = domain.parent
  return domain
}

/** @returns whether a domain took the error */
function take (error, event) {
  // A test that listens itself gets it.
  if (process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0) return false
  const domain = current()
  domain?.onerror(error, event)
  return domain !== undefined
}

function onException (error, event) {
  // Else Node.js would end the process.
  if (take(error, event)) {
    process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
  }
}

function emitToDomains (name, ...args) {
  if (name === 'unhandledRejection' && process.listenerCount(name) === 0) return take(args[0], name)
  return emit.call(process, name, ...args)
}

/** What goes on from the place where it is created, until it is destroyed, gives its uncaught errors to `onerror`. */
export class Domain {
  destroyed = false

  constructor (onerror) {
    this.onerror = onerror
    this.parent = current()
    executionAsyncResource()[DOMAIN] = this
    if (open++ > 0) return
    hook.enable()
    process.on('uncaughtExceptionMonitor', onException)
    process.emit = emitToDomains
  }

  destroy () {
    if (this.destroyed) return
    this.destroyed = true
    if (--open > 0) return
    hook.disable()
    process.removeListener('uncaughtExceptionMonitor', onException)
    process.emit = emit
  }
}

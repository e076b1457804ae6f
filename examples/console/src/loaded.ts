/** Pauses before code that could not be loaded is requested again, in milliseconds. */
const PAUSES = [300, 1000, 2500]

/** How long ago a page has to be loaded before it is loaded again by itself, in milliseconds. */
const RELOAD_AFTER = 15_000

/**
 * Loads code, again if the connection was lost or the server too busy. If the server was upgraded and the file is gone,
 * it loads the page again: what was typed is saved or asked about before a page changes.
 *
 * @param load - `import('./page.tsx')`
 */
export async function loaded<Module> (load: () => Promise<Module>): Promise<Module> {
  for (const pause of PAUSES) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
  try {
    return await load()
  } catch (error) {
    if (performance.now() > RELOAD_AFTER) location.reload()
    throw error
  }
}

import { freePort, isFree } from '#shared/free-port'
import { SHOP_NO_PORT } from '../errors.ts'

/** How many ports to try, starting with the requested one. */
const TRIES = 20

/**
 * @param wanted - the first port to try; 0 stands for any
 * @returns the first free port from there on
 * @throws {@link SHOP_NO_PORT}
 */
export async function freePortFrom (wanted: number): Promise<number> {
  if (wanted === 0) return await freePort()
  for (let port = wanted; port < wanted + TRIES; port++) if (await isFree(port)) return port
  throw new SHOP_NO_PORT(wanted, wanted + TRIES - 1)
}

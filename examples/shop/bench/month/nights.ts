// Loaded into the server before all else: what it does every hour it does once a day of the month instead, which is
// two minutes long.
import { NIGHT } from './length.ts'

const HOUR = 3_600_000
const { setInterval: every } = globalThis

globalThis.setInterval =
  ((work: () => void, milliseconds?: number) =>
    every(work, milliseconds === HOUR ? NIGHT : milliseconds)) as typeof setInterval

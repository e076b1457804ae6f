import type { Bug } from './bug.ts'

export const bugs: readonly Bug[] = [
]

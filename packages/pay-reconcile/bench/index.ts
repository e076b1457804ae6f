// npm run bench: the lists, then a bulk run.
await import('./list.ts')
await import('./bulk.ts')

import { build } from './app.ts'

const app = await build()
console.log(`listening at ${await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })}`)

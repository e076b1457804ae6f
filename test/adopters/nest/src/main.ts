import { build } from './app'

build().then(async (app) => {
  app.enableShutdownHooks()
  await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
  console.log(`listening at ${(await app.getUrl()).replace('[::1]', '127.0.0.1')}`)
})

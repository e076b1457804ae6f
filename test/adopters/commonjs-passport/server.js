const build = require('./app.js')

build().then((app) => app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })).then((origin) =>
  console.log(`listening at ${origin}`)
)

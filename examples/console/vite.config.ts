import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

/** Written beside each file, so that the server compresses nothing. */
function compressed (): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle ({ dir = 'dist' }) {
      const assets = join(dir, 'assets')
      for (const name of readdirSync(assets).filter((name) => /\.(js|css|svg)$/.test(name))) {
        const text = readFileSync(join(assets, name))
        writeFileSync(join(assets, `${name}.br`), brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: text.length } }))
        writeFileSync(join(assets, `${name}.gz`), gzipSync(text))
      }
    }
  }
}

export default defineConfig({
  base: '/console/',
  // The server puts a nonce of its own into each response.
  html: { cspNonce: 'NONCE_OF_RESPONSE' },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // 'use client' is for servers that render React.
      onLog: (level, log, handle) => { if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log) }
    }
  },
  resolve: { dedupe: ['react', 'react-dom'] },
  plugins: [compressed()]
})

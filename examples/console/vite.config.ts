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
        writeFileSync(
          join(assets, `${name}.br`),
          brotliCompressSync(text, {
            params: {
              [constants.BROTLI_PARAM_QUALITY]: 11,
              [constants.BROTLI_PARAM_LGWIN]: 22,
              [constants.BROTLI_PARAM_SIZE_HINT]: text.length
            }
          })
        )
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
    // For the test of the first screen's size.
    manifest: true,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      // 'use client' is for servers that render React.
      onLog: (level, log, handle) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log)
      },
      output: {
        // Few files for the first screen, each with what it imports: together they compress better, and each costs a
        // request.
        codeSplitting: {
          groups: [
            { name: 'index', tags: ['$initial'], priority: 4 },
            { name: 'app', test: /\/src\/app\.tsx$/, priority: 3 },
            { name: 'workspace', test: /\/src\/workspace\.tsx$/, priority: 2 },
            { name: 'home', test: /\/src\/home\/shop-home\.tsx$/, priority: 1 }
          ]
        }
      }
    }
  },
  resolve: { dedupe: ['react', 'react-dom'] },
  plugins: [compressed()]
})

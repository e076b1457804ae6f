import t from 'tap'
import { openBrowser, withoutChromium } from '../../../../test/chromium.ts'
import { freePort } from '../../../../shared/free-port.ts'
import { authorizeUrl, brokerWorld, pkce, register } from './world.ts'

t.test('RFC 9700 §4.16, double-clickjacking: a pointer that has just reached the page clicks nothing', {
  skip: withoutChromium
}, async (t) => {
  const port = await freePort()
  const publicBaseUrl = `http://localhost:${port}`
  const { app } = await brokerWorld(t, { publicBaseUrl })
  await app.listen({ port, host: '127.0.0.1' })
  const url = publicBaseUrl + authorizeUrl(await register(app), pkce().challenge, { resource: undefined })
  const chromium = await openBrowser(t)

  /** The page, where time stands still until `goOn`; forms are counted and not sent. */
  async function open (touch = false) {
    const context = await chromium.newContext(touch ? { hasTouch: true, isMobile: true } : {})
    const page = await context.newPage()
    const protocol = await context.newCDPSession(page)
    await protocol.send('Animation.enable')
    await protocol.send('Animation.setPlaybackRate', { playbackRate: 0 })
    await page.goto(url)
    await page.evaluate(
      'window.sent = []; document.forms[0].addEventListener("submit", event => { event.preventDefault(); ' +
        'sent.push(event.submitter.value) })'
    )
    const box = await page.locator('button[value=allow]').boundingBox() ?? { x: 0, y: 0 }
    return {
      page,
      place: [box.x + 10, box.y + 10] as const,
      sent: async () => await page.evaluate('sent') as string[],
      async goOn () {
        await protocol.send('Animation.setPlaybackRate', { playbackRate: 1 })
        await page.evaluate('Promise.all(document.getAnimations().map(animation => animation.finished))')
      }
    }
  }

  const mouse = await open()
  await mouse.page.mouse.move(...mouse.place)
  await mouse.page.mouse.dblclick(...mouse.place)
  t.strictSame(await mouse.sent(), [], 'the click that was meant for a window on top')
  await mouse.goOn()
  await mouse.page.mouse.click(...mouse.place)
  t.strictSame(await mouse.sent(), ['allow'], 'the person')

  const keyboard = await open()
  await keyboard.page.mouse.move(...keyboard.place)
  for (const key of ['Tab', 'Tab', 'Enter']) await keyboard.page.keyboard.press(key)
  t.strictSame(await keyboard.sent(), ['allow'], 'the keyboard need not wait')

  const touch = await open(true)
  await touch.page.touchscreen.tap(...touch.place)
  t.strictSame(await touch.sent(), ['allow'], 'neither does touch')
})

import t from 'tap'
import { isHtml, textOfHtml } from '../src/imports/text-of-html.ts'

t.test('HTML becomes the text that a person would read', async (t) => {
  for (
    const [html, text] of [
      ['<meta charset="utf-8"><span data-mce-fragment="1">A cup.</span>', 'A cup.'],
      ['<p>One</p>\n<p>Two<br>Three</p>', 'One\n\nTwo\nThree'],
      ['<h2>Cup</h2><ul>\n<li>Blue</li>\n<li>Made in <b>Spain</b></li>\n</ul>', 'Cup\n\nBlue\nMade in Spain'],
      ['<ul><li>Blue</li><li>Red</li></ul>', 'Blue\nRed'],
      ['<div>a</div><div>b</div>', 'a\nb'],
      ['Tom &amp; Jerry&nbsp;&#8211; caf&eacute; &#x1F375; &euro;5 &unknown;', 'Tom & Jerry – café 🍵 €5 &unknown;'],
      ['می&zwnj;خواهم', 'می\u200cخواهم'],
      ['&amp;lt;b&amp;gt;', '&lt;b&gt;'],
      ['&#0;&#xD800;&#x110000;a', 'a'],
      ['<style>p { color: red }</style><script>if (a < b) alert("</p>")</script><p>Text</p>', 'Text'],
      ['<!-- <p>no</p> --><p>yes</p>', 'yes'],
      ['<a title="a > b" href=\'x\'>Link</a>', 'Link'],
      ['<p class="open>Text</p><p>More</p>', 'Text\n\nMore'],
      ['<p>5 < 6 and <3</p>', '5 < 6 and <3'],
      ['<p>wrapped\n   in the source</p>', 'wrapped in the source'],
      ['<p>never closed', 'never closed'],
      ['<p>a</p><script>never closed', 'a'],
      ['<table><tr><td>a</td></tr><tr><td>b</td></tr></table>', 'a\nb'],
      ['<p></p>', '']
    ] as const
  ) t.equal(textOfHtml(html, false), text, html)
  t.equal(textOfHtml('One\n\nTwo <strong>x</strong>', true), 'One\n\nTwo x', 'line breaks that are meant')
})

t.test('what is no HTML stays as it is', async (t) => {
  for (const html of ['<p>a</p>', 'a<br/>b', 'Tom &amp; Jerry', '&#39;', '<IMG src="a">']) t.ok(isHtml(html), html)
  for (const text of ['5 < 6 > 4', 'a & b; c', 'Tom & Jerry', '<3', '', 'x <- y']) t.notOk(isHtml(text), text)
})

t.test('long HTML takes time in proportion to its length', async (t) => {
  const length = 200_000
  for (const piece of ['<', '<a "', '<p>', ' ', '<!--', '&', '&#', '<b> </b>', '<script>', '"', '< ', '\n ', '<a ']) {
    const html = piece.repeat(length / piece.length)
    isHtml(html)
    t.type(textOfHtml(html, true), 'string', JSON.stringify(piece))
  }
})

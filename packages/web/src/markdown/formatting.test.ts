import { renderToStaticMarkup } from 'react-dom/server'
import { createElement } from 'react'
import { describe, expect, test } from 'vitest'
import { Markdown } from './markdown.tsx'
import { BlockParser, isSameBlock, parseBlocks } from './parse.ts'

/** The elements of a text, without those of paragraphs and without attributes that all of their kind have. */
const htmlOf = (text: string): string =>
  renderToStaticMarkup(createElement(Markdown, { text, isOpen: false }))
    .replace(/^<div class="markdown">(.*)<\/div>$/s, '$1')
    .replaceAll(
      /<\/?p>|<p dir="auto">| dir="auto"| target="_blank"| rel="noopener noreferrer"/g,
      '',
    )
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('<ol start="1">', '<ol>')

type Rows = readonly (readonly [text: string, html: string])[]

/** What micromark with `micromark-extension-cjk-friendly` and its strikethrough makes of each text, whose single tilde is text. */
const commonMark: Readonly<Record<string, Rows>> = {
  Chinese: [
    [
      '- **注意：**先备份数据库\n- **步骤：**再升级',
      '<ul><li><strong>注意：</strong>先备份数据库</li><li><strong>步骤：</strong>再升级</li></ul>',
    ],
    ['他把它叫做**“开始”**按钮。', '他把它叫做<strong>“开始”</strong>按钮。'],
    ['**先停止服务。**然后再升级。', '<strong>先停止服务。</strong>然后再升级。'],
    ['请先点击**【保存】**再退出。', '请先点击<strong>【保存】</strong>再退出。'],
    ['这是**（可选）**的参数。', '这是<strong>（可选）</strong>的参数。'],
    ['**重要**：不要关机。', '<strong>重要</strong>：不要关机。'],
    ['**《红楼梦》**是名著。', '<strong>《红楼梦》</strong>是名著。'],
    ['价格为**￥100**，含税。', '价格为<strong>￥100</strong>，含税。'],
    ['他说：**“你好！”**然后走了。', '他说：<strong>“你好！”</strong>然后走了。'],
    ['*斜体，*正文', '<em>斜体，</em>正文'],
    ['***注意！***请看', '<em><strong>注意！</strong></em>请看'],
    ['~~旧价：￥100~~现价￥80', '<del>旧价：￥100</del>现价￥80'],
    ['**第一步**、**第二步**', '<strong>第一步</strong>、<strong>第二步</strong>'],
    ['**等等……**然后继续', '<strong>等等……</strong>然后继续'],
    ['**“引用”**——作者', '<strong>“引用”</strong>——作者'],
    ['中文**English（英文）**中文', '中文<strong>English（英文）</strong>中文'],
    ['请运行**`npm test`**命令', '请运行<strong><code>npm test</code></strong>命令'],
    ['变量 foo_bar_baz 和 中_文_字', '变量 foo_bar_baz 和 中_文_字'],
    ['*注：**重要**事项', '*注：<strong>重要</strong>事项'],
    ['**A：**B 和 **C：**D', '<strong>A：</strong>B 和 <strong>C：</strong>D'],
    ['𠮷**「吉」**野家', '𠮷<strong>「吉」</strong>野家'],
    ['**粗体，*斜体。*粗体**结束', '<strong>粗体，<em>斜体。</em>粗体</strong>结束'],
    ['**a、**b', '<strong>a、</strong>b'],
    ['2 * 3 = 6，4 * 5 = 20', '2 * 3 = 6，4 * 5 = 20'],
    ['约3~5天，10~20元', '约3~5天，10~20元'],
    ['3*4=12', '3*4=12'],
    ['“**全角**”', '“<strong>全角</strong>”'],
  ],
  Japanese: [
    ['まず**「設定」**を開きます。', 'まず<strong>「設定」</strong>を開きます。'],
    ['**注意：**電源を切らないでください。', '<strong>注意：</strong>電源を切らないでください。'],
    ['これは**重要です。**次に進みます。', 'これは<strong>重要です。</strong>次に進みます。'],
    ['**（任意）**の項目', '<strong>（任意）</strong>の項目'],
    [
      '**「はい」**または**「いいえ」**を選ぶ',
      '<strong>「はい」</strong>または<strong>「いいえ」</strong>を選ぶ',
    ],
    ['*「斜体」*です', '<em>「斜体」</em>です'],
    ['~~古い。~~新しい', '<del>古い。</del>新しい'],
    ['**『吾輩は猫である』**は小説です', '<strong>『吾輩は猫である』</strong>は小説です'],
    ['ファイル名は**『設定.json』**です。', 'ファイル名は<strong>『設定.json』</strong>です。'],
    ['10〜20分、3~5回', '10〜20分、3~5回'],
    ['**カタカナ・**テスト', '<strong>カタカナ・</strong>テスト'],
    ['__太字__です', '__太字__です'],
    ['__太字__ です', '<strong>太字</strong> です'],
    ['ｶﾅ**「ﾃｽﾄ」**ﾃﾞｽ', 'ｶﾅ<strong>「ﾃｽﾄ」</strong>ﾃﾞｽ'],
    ['*です。*続き', '<em>です。</em>続き'],
    ['**注1)**参照', '<strong>注1)</strong>参照'],
    ['**太字**と*斜体*', '<strong>太字</strong>と<em>斜体</em>'],
  ],
  Korean: [
    ['**API 키(선택)**를 입력하세요.', '<strong>API 키(선택)</strong>를 입력하세요.'],
    ['**"저장"**을 누르세요.', '<strong>"저장"</strong>을 누르세요.'],
    ['**설정(S)**에서 변경합니다.', '<strong>설정(S)</strong>에서 변경합니다.'],
    ['*강조*합니다', '<em>강조</em>합니다'],
    ['**중요:**다음 단계', '<strong>중요:</strong>다음 단계'],
    ['**‘확인’**을 클릭', '<strong>‘확인’</strong>을 클릭'],
    ['2~3일, 5~7일 걸립니다.', '2~3일, 5~7일 걸립니다.'],
    ['~~취소(무료)~~는 불가', '<del>취소(무료)</del>는 불가'],
    ['**100%**입니다.', '<strong>100%</strong>입니다.'],
    ['`명령`**(필수)**입니다', '<code>명령</code><strong>(필수)</strong>입니다'],
    ['**한국어**와 **영어**', '<strong>한국어</strong>와 <strong>영어</strong>'],
    ['값이 **5 이상**이면', '값이 <strong>5 이상</strong>이면'],
  ],
  Arabic: [
    ['**تنبيه:** احفظ الملف أولاً.', '<strong>تنبيه:</strong> احفظ الملف أولاً.'],
    ['اضغط **حفظ** ثم **خروج**.', 'اضغط <strong>حفظ</strong> ثم <strong>خروج</strong>.'],
    ['**مهم،** ثم تابع', '<strong>مهم،</strong> ثم تابع'],
    ['*ملاحظة* هنا', '<em>ملاحظة</em> هنا'],
    ['السعر ~~100~~ 80 ريال', 'السعر <del>100</del> 80 ريال'],
    ['**«اقتباس»** هنا', '<strong>«اقتباس»</strong> هنا'],
    ['**(اختياري)** الحقل', '<strong>(اختياري)</strong> الحقل'],
  ],
  'a shell': [
    ['rm *.txt *.log', 'rm *.txt *.log'],
    ['ls *.js && cat *.ts', 'ls *.js &amp;&amp; cat *.ts'],
    ['find . -name *.js', 'find . -name *.js'],
    ['cp a_b_c.txt d_e_f.txt', 'cp a_b_c.txt d_e_f.txt'],
    ['echo $HOME/$USER and $PATH:$X', 'echo $HOME/$USER and $PATH:$X'],
    ['use `$HOME` and `*`', 'use <code>$HOME</code> and <code>*</code>'],
    ['PATH=$PATH:$HOME/bin', 'PATH=$PATH:$HOME/bin'],
    ['cd ~/a && ls ~/b', 'cd ~/a &amp;&amp; ls ~/b'],
    ['grep -v "^#" a | sort', 'grep -v "^#" a | sort'],
    ['a --flag=* b --flag=*', 'a --flag=* b --flag=*'],
    ['**kwargs and *args', '**kwargs and *args'],
    ['echo $1 $2 $@', 'echo $1 $2 $@'],
    ['#!/bin/sh', '#!/bin/sh'],
    ['a && b || c', 'a &amp;&amp; b || c'],
    ['1 < 2 > 0', '1 &lt; 2 &gt; 0'],
    ['x=${a}_${b}_c', 'x=${a}_${b}_c'],
    ['x=$(a)_$(b)/$(c)', 'x=$(a)_$(b)/$(c)'],
    [
      'git reset HEAD~1 && git log HEAD~3..HEAD~1',
      'git reset HEAD~1 &amp;&amp; git log HEAD~3..HEAD~1',
    ],
    ['~user/a~ and ~x~', '~user/a~ and ~x~'],
  ],
  prices: [
    ['It costs $5 and $6.', 'It costs $5 and $6.'],
    ['$5-$10 or $20', '$5-$10 or $20'],
    ['US$5, A$7 and HK$9', 'US$5, A$7 and HK$9'],
    ['100$或200$', '100$或200$'],
    ['从$100到$200', '从$100到$200'],
    ['**$100** 到 **$200**', '<strong>$100</strong> 到 <strong>$200</strong>'],
    ['€5 and £6 ~ ¥7', '€5 and £6 ~ ¥7'],
    ['**¥100**（原价~~¥200~~）', '<strong>¥100</strong>（原价<del>¥200</del>）'],
    ['5% * 3 items * 2', '5% * 3 items * 2'],
    ['$1,000/$2,000', '$1,000/$2,000'],
  ],
  mathematics: [
    ['2*3*4', '2<em>3</em>4'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['a_1 + a_2', 'a_1 + a_2'],
    ['x^2 ~ y', 'x^2 ~ y'],
    ['a < b and c > d', 'a &lt; b and c &gt; d'],
    ['a[i] * b[j] * c', 'a[i] * b[j] * c'],
    ['f(x)*g(x)', 'f(x)*g(x)'],
    ['5*x + 3*y', '5<em>x + 3</em>y'],
    ['|a| * |b|', '|a| * |b|'],
    ['x_{1}_y', 'x_{1}_y'],
    ['1. 5\n2. 6', '<ol><li>5</li><li>6</li></ol>'],
    ['3 \\* 4 \\* 5', '3 * 4 * 5'],
  ],
}

/** What CommonMark has no rule for, or takes for something that its author has not meant. */
const beyond: Readonly<Record<string, Rows>> = {
  addresses: [
    [
      '文档在 https://docs.example.com/a，详见第二章。',
      '文档在 <a href="https://docs.example.com/a">https://docs.example.com/a</a>，详见第二章。',
    ],
    [
      '请打开https://docs.example.com/b。',
      '请打开<a href="https://docs.example.com/b">https://docs.example.com/b</a>。',
    ],
    [
      '官网（https://docs.example.com/）有说明。',
      '官网（<a href="https://docs.example.com/">https://docs.example.com/</a>）有说明。',
    ],
    [
      '「https://a.example/x」を開く',
      '「<a href="https://a.example/x">https://a.example/x</a>」を開く',
    ],
    ['一、www.example.com；二', '一、www.example.com；二'],
    ['见 www.example.com/a；二', '见 <a href="http://www.example.com/a">www.example.com/a</a>；二'],
    [
      'https://a.example/x에서',
      '<a href="https://a.example/x%EC%97%90%EC%84%9C">https://a.example/x에서</a>',
    ],
    [
      'https://a.example에서 받으세요',
      '<a href="https://a.example/">https://a.example</a>에서 받으세요',
    ],
    ['访问https://a.example查看', '访问<a href="https://a.example/">https://a.example</a>查看'],
    [
      'https://ja.wikipedia.org/wiki/レオナルド・ダ・ヴィンチ、',
      '<a href="https://ja.wikipedia.org/wiki/%E3%83%AC%E3%82%AA%E3%83%8A%E3%83%AB%E3%83%89%E3%83%BB%E3%83%80%E3%83%BB%E3%83%B4%E3%82%A3%E3%83%B3%E3%83%81">https://ja.wikipedia.org/wiki/レオナルド・ダ・ヴィンチ</a>、',
    ],
    [
      'راجع https://a.example/b، ثم',
      'راجع <a href="https://a.example/b">https://a.example/b</a>، ثم',
    ],
    ['写信给help@example.com。', '写信给<a href="mailto:help@example.com">help@example.com</a>。'],
    [
      '**网址：**https://a.example/b。',
      '<strong>网址：</strong><a href="https://a.example/b">https://a.example/b</a>。',
    ],
    [
      'See https://a.example/b_c_d, (https://a.example/e).',
      'See <a href="https://a.example/b_c_d">https://a.example/b_c_d</a>, (<a href="https://a.example/e">https://a.example/e</a>).',
    ],
  ],
  math: [
    [
      '因此$x_1$是$a*b$',
      '因此<span class="math" data-tex="x_1"></span>是<span class="math" data-tex="a*b"></span>',
    ],
    ['*从 $a*b$ 到 c*', '<em>从 <span class="math" data-tex="a*b"></span> 到 c</em>'],
    ['公式：$$x$$', '公式：<span class="math block" data-tex="x"></span>'],
    ['若 $$x$$ 则', '若 <span class="math" data-tex="x"></span> 则'],
    ['见 \\[1\\] 的 $$ 号', '见 [1] 的 $$ 号'],
  ],
  breaks: [
    ['one<br>two<br/>three<BR />four', 'one<br/>two<br/>three<br/>four'],
    ['one\n<br>\ntwo', 'one<br/>two'],
    ['<br>\n**注意：**二', '<br/><strong>注意：</strong>二'],
    ['`<br>` and &lt;br&gt;', '<code>&lt;br&gt;</code> and &lt;br&gt;'],
    [
      'H<sub>2</sub>O <img src=x onerror=alert(1)>',
      'H&lt;sub&gt;2&lt;/sub&gt;O &lt;img src=x onerror=alert(1)&gt;',
    ],
  ],
  definitions: [
    ['见[说明][1]。\n\n[1]: https://a.example/b', '见<a href="https://a.example/b">说明</a>。'],
    ['[注]: 这是说明', '[注]: 这是说明'],
    [
      '水[^1]。\n\n[^1]: **注：**一',
      '水<sup>[1]</sup>。<div class="footnote"><sup>[1]</sup><div><strong>注：</strong>一</div></div>',
    ],
    ['The class [^0-9] and [^a].', 'The class [^0-9] and [^a].'],
    ['[constructor][toString] and [^constructor]', '[constructor][toString] and [^constructor]'],
  ],
  lists: [['0. 零\n1. 一', '<ol start="0"><li>零</li><li>一</li></ol>']],
}

const tables = Object.entries({ ...commonMark, ...beyond })

describe.each(tables)('formatting changes nothing that is said: %s', (_name, rows) => {
  test.each(rows)('%j', (text, html) => {
    expect(htmlOf(text)).toBe(html)
  })

  test.each([1, 3, 40])('a text that arrives in pieces of %i letters ends the same', (size) => {
    for (const [text] of rows) {
      // The text behind it, since what is last is shown as if it were finished.
      const whole = `${text}\n\n# End\n\nend`
      const parser = new BlockParser()
      for (let at = 0; at < whole.length; at += size) parser.parse(whole.slice(0, at), true)
      expect(parser.parse(whole, true)).toEqual(parseBlocks(whole))
      expect(parser.parse(text, false)).toEqual(parseBlocks(text))
    }
  })
})

test('the table has texts enough', () => {
  expect(Object.values(commonMark).flat().length).toBeGreaterThanOrEqual(80)
})

describe('while a text grows', () => {
  /** The addresses of the links after each letter. */
  const linksOf = (text: string): string[] => {
    const parser = new BlockParser()
    const links = new Set<string>()
    for (let at = 0; at <= text.length; at++) {
      const found = JSON.stringify(parser.parse(text.slice(0, at), true)).matchAll(
        /"type":"link".*?"href":"([^"]*)"/g,
      )
      for (const [, href = ''] of found) links.add(href)
    }
    return Array.from(links)
  }

  test.each([
    'See https://docs.example.com/a?b=c in it.',
    '- **见：**https://docs.example.com/a?b=c。',
    '| a |\n| --- |\n| https://docs.example.com/a?b=c |\n',
    '**Read [the guide](https://docs.example.com/a?b=c) first**',
    'Read ![it](https://docs.example.com/a?b=c) and <https://docs.example.com/a?b=c>.',
    'Read [the guide][1].\n\n[1]: https://docs.example.com/a?b=c\n',
    'Read [the guide][1].\n\n> [1]: https://docs.example.com/a?b=c\n',
    '[^1]: https://docs.example.com/a?b=c\n',
  ])('half an address is never a link: %j', (text) => {
    expect(linksOf(text)).toEqual(['https://docs.example.com/a?b=c'])
  })

  test('half an address of mail is never a link', () => {
    expect(linksOf('Write to help@example.com.au, please')).toEqual(['mailto:help@example.com.au'])
  })

  test('a link whose address follows later is drawn again, and other blocks are not', () => {
    const parser = new BlockParser()
    const text = 'Read [the guide][1].\n\nPlain.\n\nEnd.\n\n'
    const before = parser.parse(text, true)
    const after = parser.parse(`${text}[1]: https://docs.example.com/guide\n`, true)
    expect(after[0]).toMatchObject({
      tokens: [{}, { type: 'link', href: 'https://docs.example.com/guide' }, {}],
    })
    expect(before.map((each, index) => isSameBlock(each, after[index] ?? each))).toEqual([
      false,
      ...before.slice(1).map(() => true),
    ])
  })
})

// The web UI by keyboard alone: no mouse, and no click or focus by the test.
import { join } from 'node:path'
import { HostApi, SessionClient } from '@mcp-host/client'
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

const object = { type: 'object', properties: { path: { type: 'string' } } }
const asker = {
  command: process.execPath,
  args: [join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')],
  scope: 'session',
}
/** Name of the focused element. */
const FOCUSED = `(() => {
  const { activeElement: { labels, ariaLabel, textContent } } = document
  return ariaLabel ?? labels?.[0]?.textContent ?? textContent
})()`
const MAX_STEPS = 60
/** Far more than lead to the first message. */
const MAX_PRESSES = 1_000

describe.skipIf(NEEDS_BROWSER !== '')(`the web UI by keyboard${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({
      env: { TOOL_APPROVAL: 'test.remove' },
      tools: [{ name: 'remove', inputSchema: object }],
      servers: { asker },
      toolCount: 2,
    })
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
  })
  afterEach(() => host.leave(context))

  const press = (...keys: string[]): Promise<void> =>
    keys.reduce((before, key) => before.then(() => tab.page.keyboard.press(key)), Promise.resolve())

  /** Presses Tab, or Shift+Tab, until the element with this name has the focus. */
  async function go(name: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const seen: string[] = []
    for (let step = 0; step < MAX_STEPS; step++) {
      await press(key)
      const focused = (await tab.page.evaluate<string>(FOCUSED)).trim()
      if (focused.startsWith(name)) return
      seen.push(focused.slice(0, 30))
    }
    throw new Error(`no element "${name}" by ${key}, but ${seen.join('; ')}`)
  }

  /** Waits until the element with this name has the focus, which may come after what is seen. */
  const focused = (name: string) =>
    expect.poll(() => tab.page.evaluate<string>(FOCUSED)).toMatch(new RegExp(`^${name}`))

  /** The first turn in view with its place in pixels, once the list does not move. */
  async function settledTop(): Promise<readonly [string, number]> {
    const top = `(() => {
      const turns = Array.from(document.querySelectorAll('.turn'))
      const places = turns.map((turn) => [turn.dataset.message, turn.getBoundingClientRect().top])
      return places.find(([, y]) => y > 0)
    })()`
    let last: readonly [string, number] = ['', 0]
    await expect
      .poll(async () => {
        const before = last
        last = await tab.page.evaluate(top)
        return before[0] === last[0] && before[1] === last[1]
      })
      .toBe(true)
    return [last[0], Math.round(last[1])]
  }

  async function say(text: string): Promise<void> {
    await tab.page.keyboard.insertText(text)
    await press('Enter')
  }

  /** Waits until screen readers are told of it. */
  async function said(text: string): Promise<void> {
    const status = tab.page.getByRole('status').filter({ hasText: text })
    await status.waitFor({ state: 'attached' })
  }

  test('pages are chosen by their names with the arrows', async () => {
    await press('Control+k')
    const palette = tab.page.getByRole('dialog', { name: 'Go to' })
    const field = palette.getByRole('combobox')
    const chosen = palette.getByRole('option', { selected: true })
    const first = await chosen.innerText()
    await press('ArrowDown')
    await expect.poll(() => chosen.innerText()).not.toBe(first)
    expect(await field.getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'))
    expect(await accessFaults(tab.page)).toEqual([])
    await tab.page.keyboard.type('no such page')
    await tab.page.getByText('Nothing has this name.').waitFor()
    await press('Escape')
  })

  test('a first chat', async () => {
    await go('What can you do?')
    await press('Enter')
    await focused('Message')
    await tab.done()
    expect(await tab.answers()).toContain('I am the built-in demo model')
    await said('The answer is finished.')
    // Who writes goes on writing.
    await say(script({ text: 'again' }))
    await tab.done(2)
  })

  test('a permission, and a form', async () => {
    await go('Message')
    const call = { name: 'test__remove', arguments: { path: '/a' } }
    await say(script({ calls: [call] }, { text: 'end' }))
    await tab.button('Allow').waitFor()
    await said('test remove needs your permission.')
    await go('Allow', 'Shift+Tab')
    await press('Enter')
    await tab.page.getByText('You allowed it: test remove').waitFor()
    await tab.done()
    const requestedSchema = {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Your name' },
        colour: { type: 'string', enum: ['red', 'blue'], title: 'Your colour' },
      },
      required: ['name', 'colour'],
    }
    const params = { message: 'Your data?', requestedSchema }
    const asked = { method: 'elicitation/create', params }
    await go('Message')
    await say(script({ calls: [{ name: 'asker__ask', arguments: asked }] }, { text: 'end' }))
    await tab.page.getByText('Your data?', { exact: true }).waitFor()
    await said('asker ask asks you.')
    expect(await accessFaults(tab.page)).toEqual([])
    await go('Your name', 'Shift+Tab')
    await tab.page.keyboard.type('Ann')
    await go('Your colour')
    await press('ArrowDown', 'ArrowDown', 'Tab')
    await focused('Send answer')
    await press('Enter')
    await tab.done(2)
    const tool = tab.page.locator('.turn').last().locator('.tool')
    await go('asker ask', 'Shift+Tab')
    await press('Enter')
    await go('Raw')
    await press('Enter')
    expect(await tool.innerText()).toContain('{"name":"Ann","colour":"blue"}')
    expect(await accessFaults(tab.page)).toEqual([])
  })

  test('shortcuts lead over the list, to a question that waits, and to another theme that stays', async () => {
    await focused('Message')
    await go('Skip to the page', 'Shift+Tab')
    await press('Enter', 'Tab')
    await focused('Settings')
    await go('Prompts')
    await press('Enter')
    await expect.poll(() => tab.page.getByLabel('Message', { exact: true }).inputValue()).toBe('/')
    await press('Backspace')
    await say(
      script({ calls: [{ name: 'test__remove', arguments: { path: '/a' } }] }, { text: 'end' }),
    )
    await tab.button('Allow').waitFor()
    await press('Alt+a')
    await focused('Allow')
    await press('Enter')
    await tab.done()
    const theme = (): Promise<unknown> =>
      tab.page.evaluate('getComputedStyle(document.documentElement).colorScheme')
    await go('Theme: system', 'Shift+Tab')
    await press('Enter')
    await focused('Theme: light')
    expect(await theme()).toBe('light')
    await press('Enter')
    await focused('Theme: dark')
    expect(await theme()).toBe('dark')
    await tab.page.reload()
    await tab.done()
    expect(await theme()).toBe('dark')
    await go('Theme: dark', 'Shift+Tab')
    await press('Enter')
    await focused('Theme: system')
    expect(await theme()).toBe('light dark')
    expect(await accessFaults(tab.page)).toEqual([])
  })

  test('another version of a message', async () => {
    await go('Message')
    await say(script({ text: 'first' }))
    await tab.done()
    await go('Edit', 'Shift+Tab')
    await press('Enter')
    await focused('Your message')
    await press('Escape')
    await focused('Edit')
    await press('Enter')
    await focused('Your message')
    expect(await accessFaults(tab.page)).toEqual([])
    await press('Control+A')
    await tab.page.keyboard.insertText(script({ text: 'changed' }))
    await go('Send as a new version')
    await press('Enter')
    await tab.page.getByText('2 of 2').waitFor()
    await tab.done()
    await focused('Versions')
    expect(await accessFaults(tab.page)).toEqual([])
    await go('Earlier version')
    await press('Enter')
    await tab.page.getByText('1 of 2').waitFor()
    await expect.poll(() => tab.answers()).toBe('first')
    await focused('Versions')
    await go('Later version')
    await press('Enter')
    await expect.poll(() => tab.answers()).toBe('changed')
  })

  test('J and K go from message to message, and do nothing in a field', async () => {
    await go('Message')
    const long = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n\n')
    for (let turn = 1; turn <= 5; turn++) {
      await say(script({ text: `${turn} ${long}` }))
      await tab.page.locator('.turn[data-state=done]', { hasText: `${turn} line 0` }).waitFor()
    }
    const isAt = async (turn: number): Promise<void> => {
      await tab.page.locator('.turn:focus', { hasText: `${turn} line 0` }).waitFor()
      const inView = `(() => {
        const top = (selector) => document.querySelector(selector).getBoundingClientRect().top
        return Math.abs(top('.turn:focus') - top('.turns')) < 200
      })()`
      await expect.poll(() => tab.page.evaluate<boolean>(inView)).toBe(true)
    }
    await press('k', 'j')
    await focused('Message')
    expect(await tab.page.getByLabel('Message', { exact: true }).inputValue()).toBe('kj')
    await press('Backspace', 'Backspace')
    await go('Prompts')
    await press('Alt+k', 'Control+j')
    await focused('Prompts')
    await press('k')
    await isAt(5)
    await press('j')
    await isAt(5)
    for (const turn of [4, 3, 2, 1]) {
      await press('k')
      await isAt(turn)
    }
    await press('k')
    await isAt(1)
    await press('j')
    await isAt(2)
    // Faster than turns are drawn.
    await press('j', 'j', 'j', 'k')
    await isAt(4)
  })

  test('arrows go from call to call of a row, and Enter opens one', async () => {
    await go('Message')
    const call = { name: 'asker__ask', arguments: { method: 'none', params: {} } }
    await say(script({ calls: [call, call, call] }, { text: 'end' }))
    await tab.done()
    const isAt = (index: number): Promise<void> =>
      tab.page.locator(`.calls details:nth-of-type(${index + 1}) > summary:focus`).waitFor()
    const open = tab.page.locator('.calls details[open]')
    await go('asker ask', 'Shift+Tab')
    await isAt(2)
    await press('ArrowRight')
    await isAt(2)
    await press('ArrowLeft')
    await isAt(1)
    await press('ArrowLeft', 'ArrowLeft')
    await isAt(0)
    await press('ArrowRight')
    await isAt(1)
    await press('Enter')
    await open.waitFor()
    await press('Enter')
    await open.waitFor({ state: 'detached' })
  })

  test('the table of all shortcuts switches single keys off and on', async () => {
    const dialog = tab.page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    const close = async (): Promise<void> => {
      await press('Escape')
      // A closed dialog has no role, but is in the page until its event comes.
      await tab.page.locator('dialog:not(.palette)').waitFor({ state: 'detached' })
    }
    await go('Message')
    await press('?')
    expect(await tab.page.getByLabel('Message', { exact: true }).inputValue()).toBe('?')
    await press('Backspace')
    await go('Prompts')
    await press('?')
    await dialog.waitFor()
    await tab.page.locator('dialog input:focus').waitFor()
    await dialog.getByText('Shortcuts of a single key: ?, J, K, R').waitFor()
    const keys = await dialog.getByRole('rowheader').allInnerTexts()
    const others = ['Enter', 'Shift Enter', '/', '@', '↑', '←', '→']
    const all = ['Ctrl K', 'Ctrl Shift O', 'Esc', '?', 'Alt A', 'J', 'K', 'R', 'End', ...others]
    expect(keys.toSorted()).toEqual(all.toSorted())
    expect(await accessFaults(tab.page)).toEqual([])
    await press('Space')
    await close()
    await focused('Prompts')
    await press('?')
    await tab.page.reload()
    await go('Prompts')
    await press('?', 'Control+k')
    await tab.page.getByRole('dialog', { name: 'Go to' }).waitFor()
    expect(await dialog.count()).toBe(0)
    await tab.page.keyboard.type('keyboard')
    await tab.page.getByRole('option', { name: 'Keyboard shortcuts' }).waitFor()
    await press('Enter')
    await dialog.waitFor()
    const isOn = (): Promise<boolean> => dialog.getByRole('checkbox').isChecked()
    expect(await isOn()).toBe(false)
    await tab.page.locator('dialog[open] input:focus').waitFor()
    await press('Space')
    await expect.poll(isOn).toBe(true)
    await close()
    await focused('Prompts')
    await press('?')
    await dialog.waitFor()
    // A dialog has its keys for itself.
    await go('Close')
    await press('?')
    expect(await dialog.count()).toBe(1)
  })

  test('the palette finds servers and tools, and without a list of tools the servers', async () => {
    const palette = tab.page.getByRole('dialog', { name: 'Go to' })
    const pick = async (words: string, option: string): Promise<void> => {
      await press('Control+k')
      await tab.page.keyboard.type(words)
      await palette.getByRole('option', { name: option, exact: true }).waitFor()
      await press('Enter')
    }
    const place = expect.poll(() => new URL(tab.page.url()).hash)
    await pick('remove tool', 'remove Tool of test')
    await place.toBe('#/servers/test/remove')
    await tab.page.getByRole('region', { name: 'remove' }).waitFor()
    await pick('account', 'Account')
    await place.toBe('#/account')
    let reads = 0
    await tab.page.route('**/mcp/tools/list', (route) => {
      reads += 1
      return route.abort()
    })
    await tab.page.reload()
    await tab.page.locator('main').getByText('Account').first().waitFor()
    await press('Control+k')
    await expect.poll(() => reads).toBe(1)
    await press('Escape')
    await palette.waitFor({ state: 'hidden' })
    await pick('asker server', 'asker Server')
    await place.toBe('#/servers/asker')
  })

  test('the last message is edited by the arrow up in an empty one, also from out of view', async () => {
    await go('Message')
    const long = Array.from({ length: 100 }, (_, index) => `line ${index}`).join('\n\n')
    for (let turn = 1; turn <= 4; turn++) {
      await say(script({ text: `${turn} ${long}` }))
      await tab.done(1)
      await tab.page.getByText(`${turn} line 0`, { exact: true }).waitFor()
    }
    await tab.page.keyboard.insertText('kept')
    await press('ArrowUp')
    await focused('Message')
    await press('Control+A', 'Backspace')
    await go('Messages', 'Shift+Tab')
    await press('Home')
    await tab.page.getByText('1 line 0', { exact: true }).waitFor()
    await tab.page.getByText('4 line 0', { exact: true }).waitFor({ state: 'detached' })
    await go('Message')
    await press('ArrowUp')
    await focused('Your message')
    expect(await tab.page.locator('.editor textarea').inputValue()).toContain('4 line 0')
    await press('Escape')
    await focused('Edit')
  })

  test('a link to a chat', async () => {
    await go('Message')
    await say(script({ text: 'shared' }))
    await tab.done()
    await tab.page.locator('.session').first().waitFor()
    await go('More for', 'Shift+Tab')
    await press('Enter')
    await tab.button('Share').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    await go('Share')
    await press('Enter')
    await tab.page.getByText('This chat has no links.').waitFor()
    await go('Create a link')
    await press('Enter')
    await tab.page.getByLabel('The new link').waitFor()
    // The list is read after the link was made.
    await tab.button('Revoke').waitFor()
    await go('Revoke')
    await press('Enter')
    await tab.page.getByText('This chat has no links.').waitFor()
    await press('Escape')
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' })
    await focused('More for')
  })

  test('a file', async () => {
    // The browser has to learn of the wish before the key.
    const choosing = tab.page.waitForEvent('filechooser')
    await go('Attach')
    await press('Space')
    const chooser = await choosing
    const files = ['kept.txt', 'removed.txt'].map((name) => {
      return { name, mimeType: 'text/plain', buffer: Buffer.from(name) }
    })
    await chooser.setFiles(files)
    await tab.button('Remove removed.txt').waitFor()
    await expect.poll(() => tab.page.getByText('Storing').count()).toBe(0)
    await go('Remove removed.txt', 'Shift+Tab')
    await press('Enter')
    await tab.button('Remove removed.txt').waitFor({ state: 'detached' })
    await go('Message')
    await say(script({ text: 'seen' }))
    await tab.done()
    expect(await tab.page.locator('.user .files').allInnerTexts()).toEqual(['kept.txt'])
  })

  test('the settings of a chat', async () => {
    await go('Settings')
    await press('Enter')
    const all = tab.page.getByRole('dialog').getByLabel('Those of all servers')
    await expect.poll(() => all.isEnabled()).toBe(true)
    await go('Those of all servers')
    await press('Space')
    await tab.page.getByRole('dialog').getByLabel('asker').waitFor()
    await go('asker')
    await press('Space')
    await go('Save')
    await press('Enter')
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => tab.sessionId).not.toBe('')
    const api = new HostApi({ url: host.stack.url })
    expect(await api.session(tab.sessionId)).toMatchObject({ servers: ['test'] })
  })

  test('older messages are read by scrolling up, and what is seen stays in its place', async () => {
    const count = 50
    const { promise: over, resolve } = Promise.withResolvers<void>()
    let ended = 0
    using client = new SessionClient({
      url: host.stack.url,
      onEvent: ({ type, payload }) => {
        if (type === 'turn' && payload.state === 'done' && ++ended === count) resolve()
      },
    })
    for (let index = 0; index < count; index++) client.say(script({ text: `answer ${index}` }))
    await over
    await tab.page.close()
    tab = await host.open(context, `/#/chat/${client.sessionId}`)
    await tab.page.getByText(`answer ${count - 1}`, { exact: true }).waitFor()
    expect(await tab.page.getByText('answer 0', { exact: true }).count()).toBe(0)
    // The list itself, which scrolls by keys.
    await go('Messages')
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    let isAsked = false
    await tab.page.route('**/messages?*before=*', async (route) => {
      isAsked = true
      await isReleased
      await route.continue()
    })
    for (let presses = 0; !isAsked; presses++) {
      expect(presses).toBeLessThan(MAX_PRESSES)
      await press('PageUp')
    }
    const [id, place] = await settledTop()
    const height = "document.querySelector('.turns').scrollHeight"
    const before = await tab.page.evaluate<number>(height)
    release()
    await expect.poll(() => tab.page.evaluate<number>(height)).toBeGreaterThan(before)
    expect(await settledTop()).toEqual([id, place])
    const first = tab.page.getByText('answer 0', { exact: true })
    await expect
      .poll(async () => {
        await press('PageUp')
        return first.isVisible()
      })
      .toBe(true)
  })
})

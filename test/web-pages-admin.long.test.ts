// Users, approvals, policy, audit and limits on the web UI, in a real Chromium.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, testFolder } from '@mcp-host/testkit'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { tabTo } from './web-keyboard.ts'
import { logIn, WebUsers } from './web-users.ts'

const inputSchema = { type: 'object' }
/** More calls than a page of the audit log has entries. */
const CALLS = 55
const POLICY = {
  rules: [
    { name: 'admins may', roles: 'admin', effect: 'allow' },
    { name: 'no system files', arguments: { path: '/etc/*' }, effect: 'deny', reason: 'ask ann' },
  ],
}

describe.skipIf(NEEDS_BROWSER !== '')(`pages for admins${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let host: WebHost
  let users: WebUsers
  let context: BrowserContext

  beforeAll(async () => {
    const folder = open.use(await testFolder())
    const policy = join(folder.path, 'policy.json')
    const rules = POLICY.rules.map((rule) => JSON.stringify(rule)).join(',\n')
    await writeFile(policy, `{\n"rules": [\n${rules}\n]}`)
    host = open.use(
      await WebHost.start({
        asksForLogin: true,
        env: {
          POLICY_CONFIG: policy,
          TOOL_APPROVAL: 'test.remove',
          LIMIT_TOOL_CALLS: '1000/d',
        },
        tools: ['look', 'remove'].map((name) => ({ name, inputSchema })),
      }),
    )
    users = await WebUsers.begin(host)
    await users.add('bob')
    await users.add('carl', ['auditor'])
    for (let count = 0; count < CALLS; count++) {
      await users.ask('/mcp/tools/call', { name: 'test__look', arguments: { path: 'needle' } })
    }
  })
  afterAll(() => open.disposeAsync())
  beforeEach(async () => {
    host.faults = []
    context = await host.browser.newContext()
  })
  afterEach(() => host.leave(context))

  /** A page for a user who has logged in. */
  async function show(place: string, user: string): Promise<Page> {
    const { page } = await host.open(context, `/#/${place}`)
    await logIn(page, user)
    await page.getByRole('navigation', { name: 'Account and administration' }).waitFor()
    return page
  }

  test('a user is invited, gets a role and is disabled by keyboard', async () => {
    const page = await show('users', 'ann')
    await page.getByText('Active').first().waitFor()
    await tabTo(page, 'Name of the user')
    await page.keyboard.type('eve')
    await tabTo(page, 'Invite')
    await page.keyboard.press('Enter')
    const link = await page.locator('.secret code').innerText()
    await page.getByText('Invited').waitFor()
    expect(await accessFaults(page)).toEqual([])
    await users.accept(link)
    await page.reload()
    await page.getByText('Active').nth(3).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'eve' }).getByText('Roles').waitFor()
    await tabTo(page, 'Roles of eve')
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('auditor, support')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save the roles of eve' }).waitFor({ state: 'detached' })
    const eve = async () =>
      ((await users.ask('/api/accounts')) as { accounts: { name: string }[] }).accounts.find(
        ({ name }) => name === 'eve',
      )
    expect(await eve()).toMatchObject({ roles: ['auditor', 'support'], state: 'active' })
    await tabTo(page, 'Disable eve')
    await page.keyboard.press('Enter')
    expect(await eve()).toMatchObject({ state: 'active' })
    await page.keyboard.press('Enter')
    await page.getByText('Disabled').waitFor()
    expect(await eve()).toMatchObject({ state: 'disabled' })
  })

  test('a name that is taken or faulty is refused with its reason', async () => {
    const page = await show('users', 'ann')
    const name = page.getByLabel('Name of the user')
    await name.fill('bob')
    await name.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'bob' }).waitFor()
    await name.fill('two words')
    await name.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'name' }).waitFor()
  })

  test('a call of a program waits, is seen by its user and admins, and runs once allowed', async () => {
    const call = { name: 'test__remove', arguments: { path: '/tmp/x' } }
    await expect(users.ask('/mcp/tools/call', call)).rejects.toThrow('409')
    const [waiting] = ((await users.ask('/api/approvals')) as { approvals: { id: string }[] })
      .approvals
    const other = await host.browser.newContext()
    const bob = (await host.open(other, '/#/approvals')).page
    await logIn(bob, 'bob')
    await bob.getByText('No call waits for a decision.').waitFor()
    await other.close()
    const page = await show('approvals', 'ann')
    await page.getByText('/tmp/x').waitFor()
    const pages = page.getByRole('navigation', { name: 'Pages', exact: true })
    await pages.getByRole('link', { name: 'Chat' }).click()
    const admin = pages.getByRole('link', { name: 'Admin 1 call waits for you' })
    await admin.waitFor()
    expect(await accessFaults(page)).toEqual([])
    await admin.click()
    expect(await accessFaults(page)).toEqual([])
    await tabTo(page, 'Allow test.remove')
    await page.keyboard.press('Enter')
    await page.getByText('No call waits for a decision.').waitFor()
    await pages.getByRole('link', { name: 'Admin', exact: true }).waitFor()
    await users.ask('/mcp/tools/call', { ...call, approval: waiting?.id })
    const journal = await host.stack.journal()
    expect(journal.filter(({ tool }) => tool === 'remove')).toHaveLength(1)
  })

  test('the policy says which rule decides about a call, and why', async () => {
    const page = await show('policy', 'ann')
    await tabTo(page, 'Principal')
    await page.keyboard.press('End')
    await page.keyboard.type('bob')
    await tabTo(page, 'Tool, as server.tool')
    await page.keyboard.type('test.look')
    await tabTo(page, 'Arguments as JSON')
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('{"path": "/etc/passwd"}')
    await tabTo(page, 'Explain')
    await page.keyboard.press('Enter')
    const decision = page.getByRole('status', { name: 'Decision' })
    expect(await decision.innerText()).toMatch(
      /Denied\.\s+Decided by no system files, policy\.json line 4\./,
    )
    expect(await decision.innerText()).toMatch(
      /ask ann[\s\S]*admins may\s+allow everything for role admin\s+does not match: roles\s+3/,
    )
    expect(await accessFaults(page)).toEqual([])
    await page.getByLabel('Tool, as server.tool').fill('test.remove')
    await page.getByLabel('Arguments as JSON').fill('{}')
    await page.getByLabel('Arguments as JSON').press('Tab')
    await page.keyboard.press('Enter')
    await decision.getByText('TOOL_APPROVAL').waitFor()
    await page.getByLabel('Arguments as JSON').fill('{')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByRole('alert').filter({ hasText: 'JSON' }).waitFor()
  })

  test('the audit log is searched page by page, and shows arguments to auditors alone', async () => {
    const page = await show('audit', 'ann')
    const rows = page.locator('.audit')
    await rows.first().waitFor()
    await page.getByLabel('Principal').fill('user:ann')
    await page.getByLabel('Action').fill('tool-*')
    await page.getByLabel('Tool').fill('look')
    await page.getByLabel('Tool').press('Enter')
    await page.getByText('50 entries so far; the log goes on.').waitFor()
    expect(await rows.count()).toBe(50)
    await page.getByRole('button', { name: 'Search on' }).click()
    await eventually(async () => (await rows.count()) >= CALLS)
    expect(await rows.filter({ hasText: 'tool-' }).count()).toBe(await rows.count())
    await rows.first().locator('summary').click()
    await page.getByText('"argumentsHash"').waitFor()
    const times = await rows.locator('summary > .num:first-child').allInnerTexts()
    expect(times).toEqual(times.toSorted().toReversed())
    await page.locator('.audit-head').getByText('Took').waitFor()
    expect(await page.getByText('needle').count()).toBe(0)
    expect(await accessFaults(page)).toEqual([])
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    const lines = (await readFile(await (await saved).path(), 'utf8')).trim().split('\n')
    expect(lines.length).toBeGreaterThanOrEqual(CALLS)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ principal: 'user:ann', tool: 'look' })
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText(/No fault in [\d,]+ entries of \d+ writers, first to last\./).waitFor()
    expect(await accessFaults(page)).toEqual([])
    await page.getByLabel('From').fill('2030-01-01T00:00:00')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('No entry was found.').waitFor()

    await context.clearCookies()
    const auditor = await show('audit', 'carl')
    // A call that lasted has its arguments in the entry of its start.
    await auditor.getByLabel('Action').fill('tool-*')
    await auditor.getByLabel('Text').fill('needle')
    await auditor.getByLabel('Text').press('Enter')
    await auditor.getByText('50 entries so far').waitFor()
    await auditor.locator('.audit summary').first().click()
    await auditor.getByText('"path": "needle"').first().waitFor()
  })

  test('the audit log is searched, and an entry is opened, by keyboard', async () => {
    const page = await show('audit', 'carl')
    const rows = page.locator('.audit')
    await rows.first().waitFor()
    await tabTo(page, 'Principal')
    await page.keyboard.type('user:ann')
    await tabTo(page, 'Text')
    await page.keyboard.type('needle')
    await page.keyboard.press('Enter')
    await page.getByText('50 entries so far; the log goes on.').waitFor()
    await tabTo(page, 'Search on')
    await page.keyboard.press('Enter')
    await eventually(async () => (await rows.count()) >= CALLS)
    await page.locator('button:focus', { hasText: 'Search on' }).waitFor({ state: 'detached' })
    await tabTo(page, 'Search', 'Shift+Tab')
    await tabTo(page, 'Outcome', 'Shift+Tab')
    await page.keyboard.type('no such outcome')
    await tabTo(page, 'Search')
    await page.keyboard.press('Enter')
    await page.getByText('No entry was found.').waitFor()
    await tabTo(page, 'Outcome', 'Shift+Tab')
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Enter')
    await rows.first().waitFor()
    await tabTo(page, /tool-/)
    await page.keyboard.press('Enter')
    await page.getByText('"path": "needle"').first().waitFor()
    await tabTo(page, /^All of tool-/)
  })

  test('limits of a principal are looked up by keyboard', async () => {
    const page = await show('limits', 'ann')
    const row = page.getByRole('row').filter({ hasText: 'LIMIT_TOOL_CALLS' })
    await row.getByText('1,000 tool calls a day for each caller').waitFor()
    await tabTo(page, 'Used by')
    await page.keyboard.type('user:bob')
    await tabTo(page, 'Look')
    await page.keyboard.press('Enter')
    await row.getByRole('cell', { name: '0', exact: true }).waitFor()
    await page.locator('button:focus', { hasText: 'Look' }).waitFor()
    await tabTo(page, 'Used by', 'Shift+Tab')
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Enter')
    await expect
      .poll(async () => Number(await row.getByRole('cell').last().innerText()))
      .toBeGreaterThanOrEqual(CALLS)
  })

  test('limits are shown with what a principal has used', async () => {
    const page = await show('limits', 'ann')
    const row = page.getByRole('row').filter({ hasText: 'LIMIT_TOOL_CALLS' })
    await row.getByText('1,000 tool calls a day for each caller').waitFor()
    expect(Number(await row.getByRole('cell').last().innerText())).toBeGreaterThanOrEqual(CALLS)
    expect(await accessFaults(page)).toEqual([])
    await page.getByLabel('Used by').fill('user:bob')
    await page.getByLabel('Used by').press('Enter')
    await row.getByRole('cell', { name: '0', exact: true }).waitFor()
  })

  test('a user without the role is told what a page needs, and sees only the own entries', async () => {
    const page = await show('users', 'bob')
    await page.getByText('This page needs the role admin. You have user.').waitFor()
    expect(await page.getByRole('link', { name: 'Policy' }).count()).toBe(0)
    expect(await accessFaults(page)).toEqual([])
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByText('Your own entries').waitFor()
    await page.locator('.audit').first().waitFor()
    expect(await page.locator('.audit').allInnerTexts()).toEqual(
      expect.not.arrayContaining([expect.stringContaining('user:ann')]),
    )
  })
})

describe.skipIf(NEEDS_BROWSER !== '')(`pages for admins of a laptop${NEEDS_BROWSER}`, () => {
  test.each([
    ['audit', 'This host has no audit log. Set AUDIT=async'],
    ['users', 'This host has no accounts of its own. Set AUTH=local'],
  ])('the page %s of a host without them says which setting adds them', async (place, text) => {
    await using host = await WebHost.start({})
    const { context, tab } = await host.visit({}, `/#/${place}`)
    await tab.page.getByText(text).waitFor()
    expect(await tab.page.getByRole('alert').count()).toBe(0)
    expect(await accessFaults(tab.page)).toEqual([])
    await host.leave(context)
  })
})

import { expect, test } from 'vitest'
import { describeRule } from './describe-rule.ts'
import { PolicyFile } from './policy-file.ts'

test.each([
  [{ effect: 'deny' }, 'deny everything'],
  [{ roles: 'admin', effect: 'allow' }, 'allow everything for role admin'],
  [{ server: ['files', 'web'], effect: 'deny' }, 'deny everything of files or web'],
  [
    { server: 'github', tool: 'merge_*', roles: ['operator', 'admin'], effect: 'approve' },
    'approve tool github.merge_* for role operator or role admin',
  ],
  [
    { users: 'key:*', roles: 'guest', tool: ['a', 'b'], effect: 'deny' },
    'deny tool *.a or *.b for key:* with role guest',
  ],
  [
    { arguments: { path: ['/private/*', '/keys/*'], force: 'true' }, effect: 'deny' },
    'deny tool *.* if path is /private/* or /keys/* and force is true',
  ],
  [
    { server: 'files', annotation: '@writes', effect: 'approve' },
    'approve tool files.* that is @writes',
  ],
  [
    { server: 'files', prompt: 'greet', resource: 'mem://*', effect: 'deny' },
    'deny prompt files.greet or resource files.mem://*',
  ],
])('the rule %j is said as "%s"', (rule, text) => {
  const [parsed] = PolicyFile.parse({ rules: [rule] }).rules
  expect(describeRule(parsed!)).toBe(text)
})

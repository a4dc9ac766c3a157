import { expect, test } from 'vitest'
import { settingProblems } from './settings.ts'

const demo = { LLM_PROVIDER: 'demo' }

test.each([
  [{ OPS_PORT: '2997', PORT: '3000' }],
  [{ OPS_PORT: '3000' }],
  [{ OPS_PORT: '65533', PORT: '3000' }],
])('%j is refused: the operations servers need ports of their own', (env) => {
  expect(settingProblems({ ...demo, ...env })).toEqual([
    expect.stringMatching(/^OPS_PORT=\d+: the services take/),
  ])
})

test.each([[{}], [{ OPS_PORT: '2996' }], [{ OPS_PORT: '3001' }], [{ OPS_PORT: '0' }]])(
  '%j is allowed',
  (env) => {
    expect(settingProblems({ ...demo, ...env })).toEqual([])
  },
)

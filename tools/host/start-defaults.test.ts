import { expect, test } from 'vitest'
import { serviceEnvironment } from './service-environment.ts'
import { withStartDefaults } from './start-defaults.ts'

test.each(['gateway', 'orchestrator', 'mcp-supervisor'] as const)(
  'npm start turns the audit log of the %s on, unless AUDIT says otherwise',
  (service) => {
    const modeFor = (env: object) =>
      serviceEnvironment(service, withStartDefaults({ ...env }))['AUDIT']
    expect(modeFor({})).toBe('async')
    expect(modeFor({ AUDIT: '' })).toBe('async')
    expect(modeFor({ AUDIT: 'off' })).toBe('off')
    expect(modeFor({ AUDIT: 'required' })).toBe('required')
  },
)

import type { Policy } from '@mcp-host/policy'
import { OPEN_POLICY, PolicyFile } from '@mcp-host/policy'
import type { FileFaultDeps } from '@mcp-host/service'
import { followDataFile } from '@mcp-host/service'

/** Reads the policy, and reads it again whenever the file changes. Throws `ConfigError`. */
export function followPolicy(
  path: string,
  onRead: (policy: Policy) => void,
  deps: FileFaultDeps,
): AsyncDisposable {
  return followDataFile(
    {
      path,
      defaultPath: 'policy.json',
      setting: 'POLICY_CONFIG',
      schema: PolicyFile,
      what: 'rules of the policy',
    },
    (file) => onRead(file ?? OPEN_POLICY),
    deps,
  )
}

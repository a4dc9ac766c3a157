import type { ConfigFault, ConfigurationError } from '../errors/configuration-error.ts'
import type { ListName } from '../inventory/inventory.ts'
import type { ServerLogMessage } from '../requests/server-inbox.ts'
import type { ReloadReport } from '../server/server-group.ts'
import type { ServerSnapshot } from '../server/server-snapshot.ts'

/** Something that happened in a host. */
export type HostEvent =
  | {
      /** A server's state or lists changed. */
      readonly type: 'server'
      readonly server: ServerSnapshot
    }
  | {
      /** A server's list was read again; how it is now comes as `server`. */
      readonly type: 'list-changed'
      readonly server: string
      readonly list: ListName
    }
  | {
      /** A subscribed resource has changed. */
      readonly type: 'resource-updated'
      readonly server: string
      readonly uri: string
    }
  | {
      /** A URL elicitation is complete, as the server reports. */
      readonly type: 'elicitation-complete'
      readonly server: string
      readonly elicitationId: string
    }
  | {
      /** Something of a configuration is ignored, or understood otherwise than it is written. */
      readonly type: 'config-warning'
      readonly warning: ConfigFault
    }
  | {
      /** The watched file has changed and was applied. */
      readonly type: 'reload'
      readonly report: ReloadReport
    }
  | {
      /** The watched file has changed and is faulty. The servers stay as they are. */
      readonly type: 'reload-failed'
      readonly error: ConfigurationError
    }
  | ({
      /** A server's log message. */
      readonly type: 'log'
    } & ServerLogMessage)
  | {
      /** A call that was refused and may be an attack: worth keeping. */
      readonly type: 'security'
      readonly server: string
      readonly tool: string
      readonly reason: string
    }

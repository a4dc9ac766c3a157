import type { ConfigFault, ConfigurationError, ReloadReport } from '@mcp-host/mcp-json'
import type { ListName, ServerLogMessage, ServerSnapshot } from '@mcp-host/upstream'

/** An event of a host. */
export type HostEvent =
  | {
      /** A server's state or lists changed. */
      readonly type: 'server'
      readonly server: ServerSnapshot
    }
  | {
      /** A server's list was read again. The event `server` follows with the lists. */
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
      /** A part of a configuration is ignored, or interpreted differently from its spelling. */
      readonly type: 'config-warning'
      readonly warning: ConfigFault
    }
  | {
      /** The watched file has changed, and was applied. */
      readonly type: 'reload'
      readonly report: ReloadReport
    }
  | {
      /** The watched file has changed, but is faulty. The servers stay as they are. */
      readonly type: 'reload-failed'
      readonly error: ConfigurationError
    }
  | ({
      /** A server's log message. */
      readonly type: 'log'
    } & ServerLogMessage)
  | {
      /** A call was refused that may be an attack. */
      readonly type: 'security'
      readonly server: string
      readonly tool: string
      readonly reason: string
    }

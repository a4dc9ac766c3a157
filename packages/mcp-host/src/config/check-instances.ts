export interface InstancesFault {
  readonly field: 'instances' | 'balance'
  readonly message: string
  readonly remedy: string
}

/** The contradiction between `instances` and other fields of a server, if there is one. */
export function checkInstances({
  instances,
  balance,
  scope,
}: Readonly<Record<string, unknown>>): InstancesFault | undefined {
  if (instances === undefined && balance !== undefined) {
    return {
      field: 'balance',
      message: 'has nothing to spread requests over',
      remedy: 'Give the server "instances", or remove it.',
    }
  }
  if (instances !== undefined && scope === 'session') {
    return {
      field: 'instances',
      message: 'contradicts "scope": "session", with which each session has a process of its own',
      remedy: 'Remove one of the two.',
    }
  }
  return undefined
}

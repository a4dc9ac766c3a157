/** Whether a successor can listen on the port of a process that still runs. */
export const canSharePort = process.platform === 'linux'

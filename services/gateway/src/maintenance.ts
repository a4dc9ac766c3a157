/** The standard message of a gateway that is about to stop. */
export const MAINTENANCE = 'This gateway is going down; connect again'

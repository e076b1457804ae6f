/** The version of the server, and of the contract that its tools are. Rises with every change of theirs. */
export const VERSION = '0.0.0'

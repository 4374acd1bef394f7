/** Which addresses and host names mean this very machine. */

/** Whether an IP address is one by which a machine speaks to itself. */
export function isLoopbackAddress(address: string): boolean {
  return address === "::1" || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}

/** Whether a host to listen on, or named by a request, is this machine alone. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || isLoopbackAddress(host);
}

/** Returns the host of a `Host` header in lower case, without port and brackets; `undefined` when it is none. */
export function hostOfHeader(header: string | null): string | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{1,5})?$/.exec(header ?? "");
  return (match?.[1] ?? match?.[2])?.toLowerCase();
}

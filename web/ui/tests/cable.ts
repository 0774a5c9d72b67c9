import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy to the server whose connection can be cut and restored. */
export class Cable {
  #sockets = new Set<Socket>();
  #out = false;
  #server;

  private constructor(target: URL) {
    this.#server = createServer((socket) => {
      if (this.#out) {
        socket.destroy();
        return;
      }
      const onward = connect(Number(target.port), target.hostname);
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        this.#sockets.add(from);
        from.on('error', () => to.destroy());
        from.on('close', () => {
          this.#sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
    });
  }

  /** Starts a proxy to the server under test. */
  static async lay(): Promise<Cable> {
    const cable = new Cable(new URL(process.env['HELMTRAIL_TEST_URL'] ?? ''));
    cable.#server.listen(0, '127.0.0.1');
    await once(cable.#server, 'listening');
    return cable;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Cuts all connections and refuses new ones. */
  pullOut(): void {
    this.#out = true;
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }

  putBack(): void {
    this.#out = false;
  }

  /** Stops the proxy. */
  remove(): void {
    this.pullOut();
    this.#server.close();
  }
}

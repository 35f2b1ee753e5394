// Perfetto's trace_processor, the one that its UI runs, within Node: open a trace, ask it in SQL.
// DIR holds trace_processor.wasm, its glue and its client, as scripts/setup puts them there.

import {webcrypto as crypto} from 'node:crypto'; // no global of Node 18
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import {pathToFileURL} from 'node:url';

// The glue expects to be a web worker that gets one message with a port.
function startWorker(dir, answer) {
  const wasm = fs.readFileSync(path.join(dir, 'trace_processor.wasm'));
  class WorkerGlobalScope {}
  const self = {location: {href: 'file:///engine.js'}, onmessage: null};
  // Only the 32-bit build is there: what finds out whether 64 bits would do must hear no.
  const WebAssembly32 = Object.create(WebAssembly, {
    Module: {value: function (bytes) {
      // a first section of memories, one of them, of 64 bits
      if (bytes[8] === 5 && bytes[11] === 4) throw new Error('no 64-bit memory');
      return new WebAssembly.Module(bytes);
    }},
  });
  class XMLHttpRequest {
    open() {}
    send() {
      this.response = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength);
    }
  }
  const context = vm.createContext({
    self, WorkerGlobalScope, XMLHttpRequest, WebAssembly: WebAssembly32,
    console: {...console, warn: () => {}, log: () => {}, error: () => {}},
    // WebAssembly is of this realm, and so are the errors it throws.
    Error, TypeError, RangeError, Uint8Array, TextDecoder, TextEncoder, URL, crypto, performance,
    setTimeout, clearTimeout,
  });
  self.self = self;
  vm.runInContext(fs.readFileSync(path.join(dir, 'engine_bundle.node.js'), 'utf8'), context);
  const port = {onmessage: null, postMessage: data => answer(new Uint8Array(data))};
  self.onmessage({data: port});
  return port;
}

async function open(dir, file) {
  const {EngineBase} = await import(pathToFileURL(path.join(dir, 'engine.mjs')).href);
  class Engine extends EngineBase {
    id = 'test';
    mode = 'WASM';
    constructor() {
      super();
      this.port = startWorker(dir, bytes => this.onRpcResponseBytes(bytes));
    }
    rpcSendRequestBytes(bytes) {
      this.port.onmessage({data: bytes});
    }
  }
  const engine = new Engine();
  await new Promise(resolve => setTimeout(resolve, 100)); // what the glue does once loaded
  await engine.parse(new Uint8Array(fs.readFileSync(file)));
  await engine.notifyEof();
  return {
    // Rows as objects; integers as BigInt.
    async query(sql) {
      const result = await engine.query(sql);
      const rows = [];
      for (const it = result.iter({}); it.valid(); it.next()) {
        rows.push(Object.fromEntries(result.columns().map(name => [name, it.get(name)])));
      }
      return rows;
    },
  };
}

// node engine.mjs DIR TRACE SQL...: the rows of each query as a line of JSON.
const [dir, file, ...queries] = process.argv.slice(2);
console.log = console.warn = console.error = () => {}; // the client tells of fields it does not know
const processor = await open(dir, file);
for (const sql of queries) {
  const rows = await processor.query(sql);
  process.stdout.write(JSON.stringify(rows, (_, value) =>
    typeof value === 'bigint' ? Number(value) : value) + '\n');
}

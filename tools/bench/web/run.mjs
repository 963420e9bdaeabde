// Measures a program and ONNX Runtime in turns: run.mjs FOLDER PROGRAM PEER SIZES. Prints JSON with the times in milliseconds.
import fs from "node:fs";
import path from "node:path";
import {pathToFileURL} from "node:url";

const ROUNDS = 15, CALLS = 5;

const [folder, file, peer, sizes] = process.argv.slice(2);
const read = (name) => fs.readFileSync(path.join(folder, name));
const floats = (name) => new Float32Array(new Uint8Array(read(name)).buffer);
const input = floats("input"), expected = floats("expected");
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const squares = (values) => values.reduce((sum, value) => sum + value * value, 0);
// The signal-to-noise ratio in decibels.
const snr = (output) => 10 * Math.log10(squares(expected) / squares(expected.map((value, i) => value - output[i])));

async function ours() {
  const noFile = () => 8;
  const exit = (code) => { throw new Error(`exit ${code}`); };
  const system = {fd_close: noFile, fd_seek: noFile, fd_write: noFile, proc_exit: exit};
  const {instance} = await WebAssembly.instantiate(fs.readFileSync(file), {wasi_snapshot_preview1: system});
  const program = instance.exports;
  program._initialize();
  const view = (address, count) => new Float32Array(program.memory.buffer, address, count);
  return () => {
    view(program.input(), input.length).set(input);
    const error = program.run();
    if (error !== 0) {
      throw new Error(`error ${error}`);
    }
    return view(program.output(), expected.length);
  };
}

async function theirs() {
  const {env, InferenceSession, Tensor} = await import(pathToFileURL(peer));
  env.wasm.numThreads = 1;
  const session = await InferenceSession.create(read("model.onnx"), {graphOptimizationLevel: "all"});
  const [from] = session.inputNames, [to] = session.outputNames;
  return async () => {
    const outputs = await session.run({[from]: new Tensor("float32", input, sizes.split(",").map(Number))});
    return outputs[to].data;
  };
}

const contestants = {};
for (const [name, load] of Object.entries({ours, theirs})) {
  const start = performance.now(), run = await load(), output = await run();
  contestants[name] = {run, first: performance.now() - start, snr: snr(output), times: []};
}
for (let round = 0; round < ROUNDS; ++round) {
  for (const contestant of Object.values(contestants)) {
    const start = performance.now();
    for (let i = 0; i < CALLS; ++i) {
      await contestant.run();
    }
    contestant.times.push((performance.now() - start) / CALLS);
  }
}
console.log(JSON.stringify(Object.fromEntries(Object.entries(contestants).map(
  ([name, {first, snr, times}]) => [name, {first, snr, time: median(times)}]))));

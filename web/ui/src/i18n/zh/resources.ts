import type { resources as english } from '../en/resources';
import type { Translation } from '../translation';

export const resources: Translation<typeof english> = {
  title: '资源',
  ready: '{{ready}} / {{total}} 就绪',
  none: '尚无资源信息',
  noneAtEnd: '该操作没有留下可显示的资源',
  kind: '类型',
  name: '名称',
  namespace: '命名空间',
  status: '状态',
  readyColumn: '就绪',
  hook: '钩子',
  old: '正被替换',
  restarts_other: '重启 {{count}} 次',
  why: '{{name}} 未就绪的原因：{{reason}}',
  show: '显示 {{name}} 拥有的对象',
  hide: '隐藏 {{name}} 拥有的对象',
  causes: {
    title: '尚未就绪',
    final: '继续等待也无济于事',
    count_other: '及另外 {{count}} 个',
  },
};

#!/bin/busybox sh
# The first process of a machine: it takes the steps that /steps names, and prints what came of each between
# lines that begin with @@.
/bin/busybox --install -s /bin
mkdir /usr && ln -s ../bin /usr/bin
export PATH=/bin HOME=/root TMPDIR=/tmp
mount -t devtmpfs devtmpfs /dev
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mkdir -p /dev/shm /dev/mqueue
mount -t tmpfs tmpfs /dev/shm
mount -t mqueue mqueue /dev/mqueue
ip link set lo up
hostname emulated
# The kernel's messages would be among those lines.
dmesg -n 1

packed() {
  echo "@@$1"
  gzip -c "$2" | base64
}
step() {
  echo "@@begin $1"
  sh -c "$2" >/run/out 2>/run/err
  ended=$?
  packed out /run/out
  packed err /run/err
  echo "@@end $ended"
}
. /steps
poweroff -f
